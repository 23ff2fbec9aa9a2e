use super::*;
use proptest::prelude::*;
use serde_json::json;

/// `levels` definitions, each of which applies the next one twice.
pub fn doubling(keyword: &str, levels: usize) -> Value {
    let mut defs = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        defs.insert(format!("l{level}"), json!({keyword: [next, next]}));
    }
    defs.insert(format!("l{levels}"), json!({"type": "string"}));
    json!({"$defs": defs, "$ref": "#/$defs/l0"})
}

fn why(schema: Value) -> String {
    Graph::of(&schema)
        .expect_err(&schema.to_string())
        .to_string()
}

#[test]
fn a_schema_that_doubles_with_each_level_is_refused_however_small_it_is() {
    for keyword in ["anyOf", "allOf", "oneOf"] {
        for levels in [14, 25, 30, 60] {
            let schema = doubling(keyword, levels);
            assert!(schema.to_string().len() < 6_000);
            let why = why(schema);
            let said = why.contains("questions") || why.contains("inside each other");
            assert!(said, "{keyword} {levels}: {why}");
        }
        Graph::of(&doubling(keyword, 6)).unwrap();
    }
    let hidden = json!({"properties": {"a": {"items": doubling("anyOf", 0)["$ref"]}}});
    Graph::of(&hidden).unwrap();
    let mut below = doubling("anyOf", 25);
    below["properties"] = json!({"deep": {"items": {"$ref": "#/$defs/l0"}}});
    below.as_object_mut().unwrap().remove("$ref");
    let problem = check("state_schema", &below).unwrap_err();
    assert_eq!(problem.code.status(), 422);
    let path = problem.fields["path"].as_str().unwrap();
    assert!(path.starts_with("state_schema/$defs/l"), "{path}");
}

#[test]
fn ordinary_schemas_of_python_and_typescript_pass() {
    let pydantic = json!({
        "$defs": {
            "Cat": {"properties": {"kind": {"const": "cat", "type": "string"}, "lives": {"type": "integer"}}, "required": ["kind"], "type": "object"},
            "Dog": {"properties": {"kind": {"const": "dog", "type": "string"}, "owner": {"anyOf": [{"$ref": "#/$defs/Owner"}, {"type": "null"}], "default": null}}, "required": ["kind"], "type": "object"},
            "Node": {"properties": {"value": {"type": "string"}, "children": {"items": {"$ref": "#/$defs/Node"}, "type": "array"}}, "type": "object"},
            "Owner": {"properties": {"pets": {"items": {"anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]}, "type": "array"},
                "price": {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$"}]}}, "type": "object"},
        },
        "properties": {
            "pet": {"discriminator": {"mapping": {"cat": "#/$defs/Cat"}, "propertyName": "kind"}, "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]},
            "tree": {"$ref": "#/$defs/Node"},
            "when": {"format": "date-time", "type": "string"},
        },
        "required": ["pet"], "title": "State", "type": "object",
    });
    let zod = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "email": {"type": "string", "format": "email", "pattern": "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$"},
            "id": {"type": "string", "pattern": "^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12})$"},
            "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
        },
        "required": ["email"], "additionalProperties": false,
    });
    let alias = json!({
        "$id": "https://example.com/state", "$ref": "#/$defs/Json",
        "$defs": {"Json": {"$anchor": "json", "anyOf": [{"type": "array", "items": {"$ref": "#json"}},
            {"type": "object", "additionalProperties": {"$ref": "https://example.com/state#/%24defs/Json"}},
            {"type": ["string", "number", "boolean", "null"]}]}},
    });
    let pet =
        json!({"kind": "dog", "owner": {"pets": [{"kind": "cat", "lives": 9}], "price": "1.50"}});
    let tree = (0..60).fold(
        json!({"value": "leaf"}),
        |inner, i| json!({"value": i.to_string(), "children": [inner]}),
    );
    for (schema, value) in [
        (&pydantic, json!({"pet": pet, "tree": tree})),
        (
            &zod,
            json!({"email": "ana@example.com", "next": {"email": "bo@example.com", "next": null}}),
        ),
        (&alias, json!({"a": [1, "two", {"three": [null]}]})),
        (
            &json!({"type": "object", "properties": {"$id": {"type": "string"}}}),
            json!({"$id": "x"}),
        ),
    ] {
        let graph = Graph::of(schema).unwrap();
        let work = graph.work(&value).unwrap();
        assert!(work.explains(), "{work:?} {schema}");
    }
    let union: Vec<Value> = (0..300)
        .map(|i| json!({"type": "object", "properties": {"kind": {"const": i}, "text": {"type": "string"}}}))
        .collect();
    Graph::of(&json!({"items": {"oneOf": union}})).unwrap();
}

#[test]
fn a_reference_that_leads_out_or_nowhere_or_round_in_a_circle_is_refused() {
    assert!(why(json!({"$ref": "https://example.com/other.json"})).contains("nothing is fetched"));
    assert!(why(json!({"$ref": "file:///etc/passwd"})).contains("nothing is fetched"));
    assert!(why(json!({"$ref": "other.json#/x"})).contains("nothing is fetched"));
    assert!(why(json!({"$ref": "#/$defs/none"})).contains("names nothing"));
    assert!(why(json!({"allOf": [{"$ref": "#"}]})).contains("refers to itself"));
    let pair = json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}, "items": {"$ref": "#/$defs/a"}});
    assert!(why(pair).contains("refers to itself"));
    assert!(why(json!({"$defs": {"a": {"$id": "x.json"}}})).contains("only the whole schema"));
    let twice = json!({"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}});
    assert!(why(twice).contains("stands twice"));
    let chain: serde_json::Map<String, Value> = (0..5_000)
        .map(|i| {
            (
                format!("d{i}"),
                json!({"$ref": format!("#/$defs/d{}", (i + 1) % 5_001)}),
            )
        })
        .chain([("d5000".to_owned(), json!(true))])
        .collect();
    assert!(why(json!({"$defs": chain, "$ref": "#/$defs/d0"})).contains("inside each other"));
}

#[test]
fn patterns_and_sizes_are_bounded() {
    assert!(why(json!({"pattern": "((a{100}){100}){100}"})).contains("repetitions"));
    assert!(why(json!({"patternProperties": {"x".repeat(5_000): true}})).contains("characters"));
    assert!(why(json!({"enum": ["x".repeat(SIZE_MAX)]})).contains("bytes"));
    let many: Vec<Value> = (0..SUBSCHEMAS_MAX).map(|_| json!(true)).collect();
    assert!(why(json!({"prefixItems": many})).contains("subschemas"));
}

#[test]
fn recursion_that_doubles_with_each_level_of_the_value_is_refused_for_values_that_are_too_deep() {
    let each = |kind: &str| json!({"properties": {"kind": {"const": kind}, "of": {"$ref": "#/$defs/term"}}});
    let schema = json!({
        "$defs": {"term": {"anyOf": [each("and"), each("or"), {"type": "string"}]}},
        "$ref": "#/$defs/term",
    });
    let graph = Graph::of(&schema).unwrap();
    let term = |depth| (0..depth).fold(json!("x"), |inner, _| json!({"kind": "or", "of": inner}));
    assert!(graph.work(&term(12)).unwrap().explains());
    assert!(!graph.work(&term(16)).unwrap().explains());
    let wrong = graph.work(&term(100)).unwrap_err();
    assert!(wrong.why.contains("too much work"), "{wrong}");
}

#[test]
fn a_large_value_is_refused_where_its_schema_is_costly_and_only_there() {
    let costly = Graph::of(&doubling("anyOf", 7)).unwrap();
    let plain = Graph::of(&json!({"items": {"type": "number"}})).unwrap();
    let list = Value::from(vec![json!(1); 200_000]);
    let mut schema = doubling("anyOf", 7);
    schema["items"] = json!({"$ref": "#/$defs/l0"});
    schema.as_object_mut().unwrap().remove("$ref");
    assert!(Graph::of(&schema).unwrap().work(&list).is_err());
    assert!(costly.work(&json!(1)).is_ok());
    assert!(plain.work(&list).is_ok());
}

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({"type": "string", "pattern": "^a+$"})),
        Just(json!({"enum": [1, "a", null]})),
        (0..4usize).prop_map(|i| json!({"$ref": format!("#/$defs/d{i}")})),
        Just(json!({"$ref": "#"})),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            (prop::sample::select(vec!["allOf", "anyOf", "oneOf"]), list)
                .prop_map(|(keyword, list)| json!({keyword: list})),
            (
                prop::sample::select(vec!["not", "items", "additionalProperties", "contains"]),
                inner.clone()
            )
                .prop_map(|(keyword, schema)| json!({keyword: schema})),
            (inner.clone(), inner).prop_map(|(a, b)| json!({"properties": {"a": a, "b": b}})),
        ]
    })
}

proptest! {
    /// The count must end, and end soon, whatever a schema says.
    #[test]
    fn any_schema_is_either_refused_or_counted(
        root in schemas(), defs in prop::collection::vec(schemas(), 4), depth in 0..128usize,
    ) {
        let defs: serde_json::Map<String, Value> =
            defs.into_iter().enumerate().map(|(i, it)| (format!("d{i}"), it)).collect();
        let schema = json!({"$defs": defs, "allOf": [root]});
        if let Ok(graph) = Graph::of(&schema) {
            let value = (0..depth).fold(json!("a"), |inner, i| match i % 2 {
                0 => json!({"a": inner, "b": 1}),
                _ => json!([inner]),
            });
            if let Ok(work) = graph.work(&value) {
                prop_assert!(work.fits >= 1 && work.fits <= work.explain.max(work.fits));
            }
        }
    }
}

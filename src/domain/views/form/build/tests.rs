use super::*;

fn form(schema: &str) -> Field {
    of(&serde_json::from_str(schema).unwrap())
}

fn members(field: &Field) -> &[Field] {
    match &field.kind {
        FieldKind::Group(members) => members,
        kind => panic!("no group: {kind:?}"),
    }
}

#[test]
fn fields_stand_in_the_order_of_the_schema() {
    let form = form(
        r#"{"type": "object", "required": ["amount", "extra"], "properties": {
            "when": {"type": "string", "format": "date"},
            "amount": {"type": "integer", "minimum": 1, "maximum": 500, "title": "Amount in cents"},
            "at": {"type": "string", "format": "date-time"},
            "customer": {"type": "object", "properties": {
                "mail": {"type": "string", "format": "email"}, "age": {"type": ["integer", "null"]}}}}}"#,
    );
    let names: Vec<_> = members(&form).iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["when", "amount", "at", "customer", "extra"]);
    let [when, amount, at, customer, extra] = members(&form) else {
        panic!("five fields")
    };
    assert_eq!(when.kind, FieldKind::Line(Format::Date));
    assert_eq!(amount.limits.said().unwrap(), "1 to 500");
    assert_eq!(amount.title, "Amount in cents");
    assert!(amount.required && !when.required);
    assert_eq!(at.kind, FieldKind::Line(Format::DateTime));
    let [mail, age] = members(customer) else {
        panic!("two fields")
    };
    assert_eq!(mail.kind, FieldKind::Line(Format::Email));
    assert!(age.nullable);
    assert!(matches!(extra.kind, FieldKind::Json(_)) && extra.required);
}

#[test]
fn one_of_becomes_a_choice() {
    let plain = form(r#"{"oneOf": [{"const": "a", "title": "The first"}, {"const": 2}]}"#);
    let FieldKind::Choice(all) = &plain.kind else {
        panic!("{plain:?}")
    };
    assert_eq!(all[0].title, "The first");
    assert_eq!(
        (all[1].title.as_str(), &all[1].value),
        ("2", &Value::from(2))
    );
    let either = form(
        r##"{"oneOf": [{"$ref": "#/$defs/card"}, {"title": "By transfer", "type": "string"}, {"type": "number"}],
            "$defs": {"card": {"properties": {"kind": {"const": "card"}, "last4": {"type": "string"}}, "required": ["kind"]}}}"##,
    );
    let FieldKind::Either(forms) = &either.kind else {
        panic!("{either:?}")
    };
    let titles: Vec<_> = forms.iter().map(|it| it.title.as_str()).collect();
    assert_eq!(titles, ["card", "By transfer", "Number"]);
    let maybe = form(r#"{"anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}]}"#);
    assert_eq!(maybe.kind, FieldKind::Line(Format::Plain));
    assert!(maybe.nullable);
    assert_eq!(maybe.limits.said().unwrap(), "at most 9 characters");
}

#[test]
fn what_a_form_cannot_show_is_json_for_that_part_only() {
    let form = form(
        r##"{"properties": {"ok": {"type": "boolean"}, "any": {}, "tree": {"$ref": "#/$defs/tree"},
            "both": {"allOf": [{"type": "object"}, {"type": "object"}]}, "pair": {"type": "array"}},
            "$defs": {"tree": {"properties": {"name": {"type": "string"}, "below": {"$ref": "#/$defs/tree"}}}}}"##,
    );
    let why = |name: &str| {
        let field = members(&form).iter().find(|it| it.name == name).unwrap();
        match field.kind {
            FieldKind::Json(why) => why,
            _ => "",
        }
    };
    assert_eq!(why("ok"), "");
    assert_eq!(why("any"), "it may be anything");
    assert_eq!(why("both"), "it combines several schemas");
    assert_eq!(why("pair"), "its items are not described by one schema");
    let tree = members(&form).iter().find(|it| it.name == "tree").unwrap();
    assert_eq!(members(tree)[1].kind, FieldKind::Json("it contains itself"));
}

#[test]
fn a_schema_that_doubles_itself_makes_a_form_of_bounded_size() {
    let mut defs = serde_json::json!({"l25": {"type": "string"}});
    for level in 0..25 {
        let next = format!("#/$defs/l{}", level + 1);
        let part = serde_json::json!({"$ref": next});
        defs[format!("l{level}")] = serde_json::json!({"properties": {"a": part, "b": part}});
    }
    let schema = serde_json::json!({"$defs": defs, "$ref": "#/$defs/l0"});
    fn count(field: &Field) -> usize {
        match &field.kind {
            FieldKind::Group(members) => 1 + members.iter().map(count).sum::<usize>(),
            _ => 1,
        }
    }
    assert!(count(&of(&schema.into())) <= FIELDS_MAX + 1);
}

#[test]
fn what_stands_beside_a_reference_and_limits_it_is_typed_as_json() {
    let of = |order: &str| {
        let defs = r#""$defs": {"mail": {"type": "string", "format": "email"}}"#;
        let schema = format!(r#"{{{defs}, "properties": {{"to": {{{order}}}}}}}"#);
        members(&form(&schema))[0].clone()
    };
    for described in [
        r##""$ref": "#/$defs/mail", "description": "Who hears of it""##,
        r##""allOf": [{"$ref": "#/$defs/mail"}], "description": "Who hears of it""##,
    ] {
        let field = of(described);
        assert_eq!(field.kind, FieldKind::Line(Format::Email), "{described}");
        assert_eq!(field.hint.as_deref(), Some("Who hears of it"));
    }
    for limited in [
        r##""$ref": "#/$defs/mail", "maxLength": 20"##,
        r##""allOf": [{"$ref": "#/$defs/mail"}], "required": ["x"]"##,
    ] {
        assert_eq!(of(limited).kind, FieldKind::Json(SEVERAL), "{limited}");
    }
}

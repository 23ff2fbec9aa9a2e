//! `GET /v1/events`: each change once and in order, as pages and as a stream.

use serde_json::{Value, json};
use std::time::Duration;

use crate::support::{Agent, Api, Engine, Stream, both_engines, ids, is_strictly_rising, is_time};

/// A run with a few events.
async fn busy(api: &Api) -> Agent {
    let agent = api.agent(json!({})).await;
    for i in 0..5 {
        agent
            .does(&format!("k{i}"), json!({"state": {"i": i}}))
            .await;
    }
    agent
}

async fn every_change_is_an_event_with_its_run_and_time(on: Engine) {
    let api = on.shared().await;
    let agent = busy(&api).await;
    let events = api.events(0, Some(&agent.run)).await;
    assert!(
        events.len() >= 10,
        "create, lease, five begins, five commits: {events:?}"
    );
    assert!(is_strictly_rising(&ids(&events)));
    for event in &events {
        assert_eq!(event["run"], json!(agent.run));
        assert!(
            event["kind"].is_string() && is_time(&event["at"]),
            "{event}"
        );
        assert!(event.as_object().unwrap().contains_key("data"), "{event}");
    }
    let seqs: Vec<_> = events
        .iter()
        .filter_map(|event| event["seq"].as_i64())
        .collect();
    assert!((1..=5).all(|seq| seqs.contains(&seq)), "{events:?}");
}

async fn each_write_adds_an_event_and_each_refusal_none(on: Engine) {
    let api = on.shared().await;
    let agent = api.agent(json!({})).await;
    let mut head = 0;
    let mut grew = async |what: &str, grows: bool| {
        let last = *ids(&api.events(0, Some(&agent.run)).await).last().unwrap();
        assert_eq!(last > head, grows, "{what}");
        head = last;
    };
    grew("lease", true).await;
    agent.executes("one", json!({})).await;
    grew("begin", true).await;
    agent.begin("one", json!({"name": "x"})).await.refusal();
    grew("a refused begin", false).await;
    agent.commit(1, 1, json!({"state": 1})).await.is(200);
    grew("commit", true).await;
    agent.commit(1, 1, json!({"state": 1})).await.is(200);
    grew("a repeated commit", false).await;
    api.decide(&agent.run, json!({"kind": "pause"}))
        .await
        .is(200);
    grew("decision", true).await;
    agent.release(json!({})).await.is(200);
    grew("release", true).await;
    agent.release(json!({})).await.is(200);
    grew("a repeated release", false).await;
}

async fn a_page_goes_on_where_the_last_one_ended(on: Engine) {
    let api = on.shared().await;
    let agent = busy(&api).await;
    let all = ids(&api.events(0, Some(&agent.run)).await);
    for cut in [0, 1, all.len() / 2, all.len() - 1] {
        let rest = ids(&api.events(all[cut], Some(&agent.run)).await);
        assert_eq!(rest, all[cut + 1..]);
    }
    let last = all.last().unwrap();
    let page = api
        .get(&format!("/v1/events?after={last}&run={}", agent.run))
        .await
        .is(200);
    assert_eq!(page["events"], json!([]));
    assert!(
        page["next"].as_i64().unwrap() >= *last,
        "a cursor never goes back: {page}"
    );
}

async fn pages_of_all_runs_hold_the_same_events_in_the_same_order(on: Engine) {
    let api = on.shared().await;
    let start = api.events(0, None).await;
    assert!(is_strictly_rising(&ids(&start)));
    let head = ids(&start).last().copied().unwrap_or(0);
    let (a, b) = (busy(&api).await, busy(&api).await);
    let all = api.events(head, None).await;
    for agent in [a, b] {
        let mine: Vec<_> = all
            .iter()
            .filter(|event| event["run"] == json!(agent.run))
            .cloned()
            .collect();
        assert_eq!(mine, api.events(0, Some(&agent.run)).await);
    }
}

/// Reads from a stream until it has seen as many events as `expected` has.
async fn read(stream: &mut Stream, expected: &[Value]) -> Vec<Value> {
    let mut seen = Vec::new();
    while seen.len() < expected.len() {
        seen.push(stream.next().await.expect("the stream goes on"));
    }
    seen
}

async fn a_stream_tells_what_the_pages_tell(on: Engine) {
    let api = on.shared().await;
    let agent = busy(&api).await;
    let all = api.events(0, Some(&agent.run)).await;
    let mut stream = Stream::open(&api, &format!("?after=0&run={}", agent.run), None).await;
    assert_eq!(read(&mut stream, &all).await, all);
}

async fn a_stream_goes_on_after_the_last_event_id(on: Engine) {
    let api = on.shared().await;
    let agent = busy(&api).await;
    let all = api.events(0, Some(&agent.run)).await;
    let cut = all[3]["id"].as_i64().unwrap();
    let run = format!("run={}", agent.run);
    let mut by_header = Stream::open(&api, &format!("?{run}"), Some(cut)).await;
    assert_eq!(read(&mut by_header, &all[4..]).await, all[4..]);
    let mut by_query = Stream::open(&api, &format!("?after={cut}&{run}"), None).await;
    assert_eq!(read(&mut by_query, &all[4..]).await, all[4..]);
}

/// A browser reconnects to the URL it first opened: the header is the newer word.
async fn the_last_event_id_counts_more_than_after(on: Engine) {
    let api = on.shared().await;
    let agent = busy(&api).await;
    let all = api.events(0, Some(&agent.run)).await;
    let cut = all[5]["id"].as_i64().unwrap();
    let mut stream = Stream::open(&api, &format!("?after=0&run={}", agent.run), Some(cut)).await;
    assert_eq!(read(&mut stream, &all[6..7]).await, all[6..7]);
}

async fn a_stream_tells_new_events_as_they_happen(on: Engine) {
    let api = on.shared().await;
    let agent = busy(&api).await;
    let head = *ids(&api.events(0, Some(&agent.run)).await).last().unwrap();
    let mut stream = Stream::open(&api, &format!("?run={}", agent.run), Some(head)).await;
    assert!(
        stream.within(Duration::from_millis(300)).await.is_none(),
        "nothing happened"
    );
    let other = api.agent(json!({})).await;
    agent.executes("later", json!({})).await;
    let event = stream.next().await.expect("an event");
    assert!(event["id"].as_i64().unwrap() > head);
    assert_eq!(event["run"], json!(agent.run), "not {}", other.run);
}

async fn a_stream_of_all_runs_tells_of_each(on: Engine) {
    let api = on.shared().await;
    let head = ids(&api.events(0, None).await).last().copied().unwrap_or(0);
    let mut stream = Stream::open(&api, "", Some(head)).await;
    let (a, b) = (api.create(json!({})).await, api.create(json!({})).await);
    let mut missing = vec![json!(a), json!(b)];
    let mut seen = vec![head];
    while !missing.is_empty() {
        let event = stream.next().await.expect("an event");
        seen.push(event["id"].as_i64().unwrap());
        missing.retain(|run| *run != event["run"]);
    }
    assert!(is_strictly_rising(&seen), "{seen:?}");
}

async fn events_of_an_unknown_run_are_none(on: Engine) {
    let api = on.shared().await;
    let answer = api.get("/v1/events?after=0&run=nobody-has-this-id").await;
    match answer.status {
        200 => assert_eq!(answer.body()["events"], json!([])),
        _ => {
            answer.refused(404, "not_found");
        }
    }
}

both_engines!(
    every_change_is_an_event_with_its_run_and_time,
    each_write_adds_an_event_and_each_refusal_none,
    a_page_goes_on_where_the_last_one_ended,
    pages_of_all_runs_hold_the_same_events_in_the_same_order,
    a_stream_tells_what_the_pages_tell,
    a_stream_goes_on_after_the_last_event_id,
    the_last_event_id_counts_more_than_after,
    a_stream_tells_new_events_as_they_happen,
    a_stream_of_all_runs_tells_of_each,
    events_of_an_unknown_run_are_none,
);

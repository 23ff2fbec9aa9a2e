//! `step47 edit` with an editor: what is saved becomes a new snapshot, and no text is lost.

use serde_json::json;
use std::fs;

use super::state;
use crate::support::{Agent, Api, Cli, Engine, Said, both_engines};

/// A run that waits for a worker, with a state and its schema.
async fn resting(api: &Api) -> Agent {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let agent = api
        .agent(json!({"state": {"n": 0, "t": "ü"}, "state_schema": schema}))
        .await;
    agent.release(json!({})).await.is(200);
    agent
}

async fn edits(cli: &Cli, agent: &Agent) -> Said {
    cli.says(&["edit", &agent.run, "-m", "by hand"]).await
}

/// The text that was not taken, where the message says it is.
#[track_caller]
fn kept(said: &Said) -> String {
    let (_, path) = said
        .err
        .split_once("your text is kept in ")
        .unwrap_or_else(|| panic!("{said:?}"));
    fs::read_to_string(path.trim()).expect("the kept text")
}

/// Files that a command leaves behind, beside the editor itself.
fn left_behind(cli: &Cli) -> usize {
    let files = fs::read_dir(cli.home()).expect("a folder").flatten();
    files.filter(|it| it.file_name() != "editor.sh").count()
}

async fn what_is_saved_becomes_the_state(on: Engine) {
    let api = on.shared().await;
    let agent = resting(&api).await;
    let cli = Cli::editing(&api, r#"cp "$1" shown; printf '{"n": 41}\n' > "$1""#);
    let said = edits(&cli, &agent).await;
    assert!(
        said.done().contains("the state is now snapshot 1"),
        "{said:?}"
    );
    let shown = fs::read_to_string(cli.home().join("shown")).expect("what was shown");
    assert_eq!(shown, "{\n  \"n\": 0,\n  \"t\": \"ü\"\n}");
    assert_eq!(state(&api, &agent.run).await, json!({"n": 41}));
    let events = api.events(0, Some(&agent.run)).await;
    let decision = events
        .iter()
        .find(|it| it["kind"] == "decision")
        .expect("a decision");
    assert_eq!(decision["data"]["reason"], "by hand");
    assert_eq!(left_behind(&cli), 1, "only what the editor itself made");
}

async fn what_is_not_changed_changes_nothing(on: Engine) {
    let api = on.shared().await;
    let agent = resting(&api).await;
    let before = agent.facts().await;
    let spaces = r#"tr -d ' \n' < "$1" > spaces && cat spaces > "$1""#;
    for script in ["true", spaces, r#"echo >> "$1""#] {
        let cli = Cli::editing(&api, script);
        assert_eq!(
            edits(&cli, &agent).await.done(),
            "nothing changed\n",
            "{script}"
        );
    }
    let cli = Cli::editing(&api, r#"printf '{"n": 41}' > "$1"; exit 3"#);
    edits(&cli, &agent).await.refused("nothing was changed");
    assert_eq!(left_behind(&cli), 0);
    assert_eq!(agent.facts().await, before);
}

async fn what_is_not_taken_is_kept(on: Engine) {
    let api = on.shared().await;
    let agent = resting(&api).await;
    let before = agent.facts().await;
    for (text, words) in [
        ("{\"n\": ", "is not valid JSON: line 1"),
        ("", "is not valid JSON"),
        (r#"{"n": 1, "n": 2}"#, "/n stands twice"),
        (r#"{"n": "one"}"#, "state/n"),
        (r#"{"n": 1, "t": "\u0000"}"#, "NUL"),
    ] {
        let cli = Cli::editing(&api, "cat text > \"$1\"");
        cli.file("text", text);
        let said = edits(&cli, &agent).await;
        said.refused(words);
        assert_eq!(kept(&said), text.trim_end(), "{said:?}");
    }
    assert_eq!(agent.facts().await, before);
}

async fn an_edit_of_what_changed_meanwhile_is_refused(on: Engine) {
    let api = on.shared().await;
    let agent = resting(&api).await;
    let step47 = env!("CARGO_BIN_EXE_step47");
    let first = format!("'{step47}' edit '{}' --set /n=7 -m first", agent.run);
    let cli = Cli::editing(&api, &format!("{first} && printf '{{\"n\": 8}}' > \"$1\""));
    let said = edits(&cli, &agent).await;
    said.refused("already decided by ");
    assert_eq!(kept(&said), r#"{"n": 8}"#);
    assert_eq!(state(&api, &agent.run).await["n"], 7);
}

both_engines!(
    what_is_saved_becomes_the_state,
    what_is_not_changed_changes_nothing,
    what_is_not_taken_is_kept,
    an_edit_of_what_changed_meanwhile_is_refused,
);

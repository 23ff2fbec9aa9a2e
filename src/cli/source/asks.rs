//! What commands ask of a server or a store, one method for both; and how they decide.

use serde_json::json;

use super::Source;
use crate::{
    cli::{Failure, HERE},
    client::Error,
    domain::{
        AsOf, Code, Principal, Problem, Role, Run, RunDetail, RunId, RunQuery, StepDetail,
        nouns::{
            access::Caller,
            audit::{AuditPage, AuditQuery},
        },
        rules::{decision::DecisionPage, plan::Plan},
        views::{
            inbox::InboxPage,
            sheet::{Aftermath, RunSheet},
            words,
        },
        wire::protocol::{
            Check as _, Decide, DecideAnswer, EventPage, RunPage, SnapshotAnswer, StepPage,
            VALUES_MAX,
        },
    },
    server::{body::parse, config::BODY_MAX},
};

/// Entries, questions and decisions that are read at a time.
const PAGE: i64 = 50;
/// Lines of the history or of the audit trail that are read at a time.
const STRIDE: i64 = 500;

/// Asks the one or the other; what is refused sounds the same.
macro_rules! ask {
    ($source:ident, $client:ident => $there:expr, $store:ident => $here:expr $(,)?) => {{
        let found: Result<_, Error> = match $source {
            Source::Server {
                client: $client, ..
            } => $there.await,
            Source::Store { store: $store, .. } => $here.await.map_err(Error::from),
        };
        found.map_err(|why| $source.refused(&why))
    }};
}

impl Source {
    pub async fn runs(&self, query: &RunQuery) -> Result<RunPage, Failure> {
        ask!(self, client => client.runs(query), store => store.runs(query))
    }

    pub async fn run(&self, id: &RunId) -> Result<RunDetail, Failure> {
        ask!(self, client => client.run(id), store => store.run(id))
    }

    pub async fn steps(&self, id: &RunId, after: i64, limit: i64) -> Result<StepPage, Failure> {
        ask!(self, client => client.steps(id, after, limit), store => store.steps(id, after, limit))
    }

    pub async fn step(&self, id: &RunId, seq: i64) -> Result<StepDetail, Failure> {
        ask!(self, client => client.step(id, seq, 0), store => store.step(id, seq))
    }

    /// What a step is called, as far as that can still be read.
    pub async fn step_name(&self, id: &RunId, seq: i64) -> Result<String, Failure> {
        ask!(
            self,
            client => async { named(client.step(id, seq, 0).await) },
            store => async { named(store.step(id, seq).await.map_err(Error::from)) },
        )
    }

    pub async fn snapshot(&self, id: &RunId, n: i64) -> Result<SnapshotAnswer, Failure> {
        ask!(self, client => client.snapshot(id, n), store => store.snapshot(id, n))
    }

    pub async fn plan(&self, id: &RunId) -> Result<Plan, Failure> {
        ask!(self, client => client.plan(id), store => store.plan_in_full(id))
    }

    pub async fn events(&self, after: i64, run: Option<&RunId>) -> Result<EventPage, Failure> {
        ask!(self, client => client.events(after, run), store => store.events(after, run, STRIDE))
    }

    /// The newest event.
    pub async fn head(&self) -> Result<i64, Failure> {
        ask!(
            self,
            client => async {
                // Pages are told the newest event with whatever they read: here with no runs at all.
                let nothing = json!({"ids": []});
                let read: AsOf<Vec<Run>> = client.function("runs/some", &nothing).await?;
                Ok(read.event)
            },
            store => store.head(),
        )
    }

    /// The decisions about a run, newest first.
    pub async fn decisions(
        &self,
        run: &RunId,
        before: Option<i64>,
    ) -> Result<DecisionPage, Failure> {
        let asked = json!({"run": run, "before": before});
        ask!(
            self,
            client => client.function("decisions/of_run", &asked),
            store => store.decisions(run, before, PAGE),
        )
    }

    /// The newest of them; none where one is damaged in the store, which keeps nobody from reading the rest of the run.
    pub async fn newest_decisions(&self, run: &RunId) -> Result<Option<DecisionPage>, Failure> {
        let asked = json!({"run": run, "before": null});
        ask!(
            self,
            client => async { sound(client.function("decisions/of_run", &asked).await) },
            store => async {
                sound(store.decisions(run, None, PAGE).await.map_err(Error::from))
            },
        )
    }

    /// What a run's page says beside the run itself.
    pub async fn aftermath(&self, run: &RunId) -> Result<Aftermath, Failure> {
        let asked = json!({"id": run});
        ask!(
            self,
            client => async {
                let read: AsOf<RunSheet> = client.function("runs/one", &asked).await?;
                Ok(read.value.after)
            },
            store => store.aftermath(run),
        )
    }

    /// Questions that wait for a person, oldest first.
    pub async fn inbox(&self, cursor: Option<&str>) -> Result<InboxPage, Failure> {
        let asked = json!({"cursor": cursor});
        ask!(
            self,
            client => async {
                let read: AsOf<InboxPage> = client.function("decisions/inbox", &asked).await?;
                Ok(read.value)
            },
            store => store.inbox(cursor, PAGE),
        )
    }

    /// Entries of the audit trail, newest first.
    pub async fn audit(&self, query: &AuditQuery) -> Result<AuditPage, Failure> {
        let asked = json!({"query": query});
        ask!(
            self,
            client => client.function("audit/page", &asked),
            store => store.audit(query, PAGE),
        )
    }

    /// All entries of the audit trail that fit, oldest first, each as a line of JSON with its hash.
    pub async fn export_audit(
        &self,
        query: &AuditQuery,
        mut line: impl FnMut(&str),
    ) -> Result<(), Failure> {
        match self {
            Self::Server { client, .. } => {
                let lines = client.audit_lines(query).await;
                let mut lines = lines.map_err(|why| self.refused(&why))?;
                while let Some(next) = lines.next().await? {
                    line(&next);
                }
            }
            Self::Store { store, .. } => {
                let mut after = 0;
                loop {
                    let page = store.audit_onward(after, STRIDE).await?;
                    let Some((last, _)) = page.last() else { break };
                    after = last.id;
                    for (entry, hash) in page.iter().filter(|(entry, _)| query.admits(entry)) {
                        line(&entry.exported(*hash));
                    }
                }
            }
        }
        Ok(())
    }

    pub async fn decide(&self, run: &RunId, body: &Decide) -> Result<DecideAnswer, Failure> {
        ask!(
            self,
            client => client.decide(run, body),
            store => async {
                let author = Principal::new(Caller::CommandLine, HERE, Role::Operator);
                store.decide(run.clone(), author, strict(body)?).await
            },
        )
    }

    /// The failure in words. "Not found" names the server or store that was asked.
    pub fn refused(&self, why: &Error) -> Failure {
        match why {
            Error::Refused(problem) if problem.code == Code::NotFound => {
                format!("{why} {self}").into()
            }
            _ => why.to_string().into(),
        }
    }
}

/// A damaged step keeps nobody from reading the states around it.
fn named(step: Result<StepDetail, Error>) -> Result<String, Error> {
    match step {
        Err(Error::Refused(problem)) if problem.code == Code::Corrupt => Ok(words::DAMAGED.into()),
        step => step.map(|it| it.step.name),
    }
}

fn sound<T>(read: Result<T, Error>) -> Result<Option<T>, Error> {
    match read {
        Err(Error::Refused(problem)) if problem.code == Code::Corrupt => Ok(None),
        read => read.map(Some),
    }
}

/// The order as a server would have read it, within the same limits.
fn strict(body: &Decide) -> Result<Decide, Problem> {
    let bytes =
        serde_json::to_vec(body).map_err(|why| Problem::new(Code::Malformed, why.to_string()))?;
    if bytes.len() > BODY_MAX {
        return Err(Problem::too_large("body", BODY_MAX));
    }
    let body: Decide = parse(&bytes, VALUES_MAX)?;
    body.check()?;
    Ok(body)
}

//! A run as the head of its page shows it: the facts, where it comes from, what is not undone, what was decided last.

use serde::Serialize;

use super::{
    Failure,
    say::{clip, say},
    source::Source,
};
use crate::domain::{
    RunDetail, RunId,
    rules::{decision::Decision, plan::LeftBehind},
    views::{
        run_words::{
            DECISIONS_SHOWN, DecisionLine, NOT_UNDONE, has_line, left_behind, origin, place,
        },
        words,
    },
};

/// Letters of a decision's line; `--json` has all of it.
const LINE: usize = 400;

/// As JSON it is the run as `/v1` has it, and beside it what its page says.
#[derive(Serialize)]
pub struct RunHead {
    #[serde(flatten)]
    detail: RunDetail,
    /// It was rewound to before this step, and nothing has moved it since.
    #[serde(skip_serializing_if = "Option::is_none")]
    rewound_to: Option<i64>,
    /// Effects that a rewind or a fork left behind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_undone: Vec<LeftBehind>,
    /// Effects that may have happened.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<LeftBehind>,
    /// The run and these in one line, as its page says it.
    now: String,
    /// The newest first; absent where one is damaged in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    decisions: Option<Vec<Decision>>,
}

impl RunHead {
    pub async fn of(source: &Source, id: &RunId) -> Result<Self, Failure> {
        let detail = source.run(id).await?;
        let after = source.aftermath(id).await?;
        let newest = source.newest_decisions(id).await?;
        Ok(Self {
            now: words::headline_after(&detail.run, &after),
            detail,
            rewound_to: after.rewound_to,
            not_undone: after.not_undone,
            unknown: after.unknown,
            decisions: newest.map(|page| page.decisions),
        })
    }

    pub fn print(&self) {
        let run = &self.detail.run;
        say!(
            "{}  {}",
            clip(run.title.as_deref().unwrap_or(&run.agent), 100),
            run.id
        );
        say!("  status     {} (version {})", run.status, run.version);
        say!("  now        {}", clip(&self.now, LINE));
        for unknown in self.unknown.iter().filter(|_| run.unchecked()) {
            let effect = left_behind(unknown);
            say!(
                "  not known  {}: `step47 acknowledge {}`",
                clip(&effect, LINE),
                run.id
            );
        }
        let code = run
            .code_version
            .as_deref()
            .map_or(String::new(), |v| format!("@{v}"));
        say!("  agent      {}{}", clip(&run.agent, 100), clip(&code, 100));
        if let Some(model) = &run.model {
            say!("  model      {}", clip(model, 100));
        }
        if let Some(lease) = &run.lease {
            say!(
                "  worker     {}, lease until {}",
                clip(&lease.worker, 100),
                lease.expires_at
            );
        }
        if let Some(parent) = &run.parent {
            let from = place(parent.run.as_str(), parent.seq);
            say!("  {} {from}", origin(run));
        }
        say!(
            "  steps      {} begun, {} committed, {} announced",
            run.steps,
            run.committed,
            run.announced
        );
        say!("  snapshot   {} {}", run.snapshot, run.hash);
        say!("  created    {}", run.created_at);
        for left in &self.not_undone {
            say!("  {NOT_UNDONE}: {}", clip(&left_behind(left), LINE));
        }
        self.print_decisions();
    }

    fn print_decisions(&self) {
        let Some(decisions) = &self.decisions else {
            say!("  decisions  {}", words::DAMAGED);
            return;
        };
        let lines = || decisions.iter().filter(|it| has_line(it));
        for it in lines().take(DECISIONS_SHOWN) {
            let line = format!("{}{}", it.author, DecisionLine::of(it).in_words());
            say!("  {}  {}", it.at, clip(&line, LINE));
        }
        if lines().nth(DECISIONS_SHOWN).is_some() {
            say!("  older ones: step47 audit --run {}", self.detail.run.id);
        }
    }
}

//! What `wattle check` says.

use std::io;

use serde::Serialize;
use wattle::checker::{Advice, Change, Report, Verdict};
use wattle::memory::Target;
use wattle::story::{Role, tell};
use wattle::{Error, Expectation, Scenario};

use crate::limits::Reached;
use crate::session::Session;
use crate::text::{self, Style, Tone};

/// A scenario, judged for one target after another.
pub struct Judged {
    pub scenario: Scenario,
    pub tried: Vec<Tried>,
    pub advice: Advice,
}

/// A scenario judged for a target, or why it was not.
pub struct Tried {
    /// The target, or the model.
    pub name: String,
    pub result: Result<Report, Unjudged>,
}

/// Why there is no report.
pub enum Unjudged {
    /// The target, or the checker, cannot do what the scenario needs.
    Impossible(Error),
    /// The command's limit was reached before.
    Stopped(Reached),
}

impl Unjudged {
    fn word(&self) -> &'static str {
        match self {
            Unjudged::Impossible(_) => "not possible",
            Unjudged::Stopped(_) => "unknown",
        }
    }

    fn why(&self) -> String {
        match self {
            Unjudged::Impossible(error) => error.to_string(),
            Unjudged::Stopped(reached) => reached.to_string(),
        }
    }
}

/// Writes the report for people.
pub fn text(session: &mut Session<'_>, judged: &Judged, first: bool) -> io::Result<()> {
    if !first {
        session.line("")?;
    }
    heading(session, judged)?;
    verdicts(session, judged)?;
    let Some(report) = judged.main() else { return Ok(()) };
    for check in &report.checks {
        session.line(format!("  {} {check}", session.style.paint(Tone::Good, "always:")))?;
    }
    if report.outcomes.len() > 1 || report.violations.is_empty() && !report.outcomes.is_empty() {
        let outcomes: Vec<String> = report.outcomes.keys().cloned().collect();
        session.line("  outcomes:")?;
        for line in text::wrap(&outcomes.join(" · "), text::WIDTH - 4) {
            session.line(format!("    {line}"))?;
        }
    }
    for (read, store) in &report.rests_on {
        let what =
            format!("the store at {store} waits for what {read} reads; without that there would be more outcomes");
        session.line(format!("  {} {what}", session.style.paint(Tone::Note, "rests on a dependency:")))?;
    }
    for unknown in &report.unknown {
        session.line(format!("  {} {unknown}", session.style.paint(Tone::Note, "not everything was looked at:")))?;
    }
    for violation in &report.violations {
        session.line("")?;
        let style = session.style;
        let told = tell(violation, report).render(text::WIDTH - 2, &|role, text| paint(style, role, text));
        for line in told.lines() {
            session.line(format!("  {line}"))?;
        }
    }
    advice(session, judged)
}

fn paint(style: Style, role: Role, text: &str) -> String {
    match role {
        Role::Headline => style.paint(Tone::Bad, text),
        Role::Arrow | Role::Value => style.paint(Tone::Note, text),
        Role::Line | Role::Clause => style.paint(Tone::Faint, text),
        _ => text.to_owned(),
    }
}

fn heading(session: &mut Session<'_>, judged: &Judged) -> io::Result<()> {
    let Some(report) = judged.main() else {
        let name = session.style.paint(Tone::Strong, judged.scenario.name);
        let stopped = judged.tried.iter().any(|tried| matches!(tried.result, Err(Unjudged::Stopped(_))));
        return session.line(format!("{name}  {}", if stopped { "unknown" } else { "cannot be judged" }));
    };
    let executions = report.statistics.complete;
    let like = if report.symmetric { ", like threads taken for one another" } else { "" };
    let shapes = if report.verdict == Verdict::Violated { &report.violated_in } else { &report.shapes };
    let size = format!("{}{}", shapes.join(", "), bound(report));
    let expected = judged.scenario.expectation == Expectation::Refuted && report.verdict == Verdict::Violated;
    let expected = if expected { ", as it should be," } else { "," };
    session.line(format!(
        "{}  {} under {}{expected} for {size}",
        session.style.paint(Tone::Strong, judged.scenario.name),
        session.style.paint(tone(report.verdict), &report.verdict.to_string()),
        report.model,
    ))?;
    let count = text::count(executions);
    let plural = if executions == 1 { "execution" } else { "executions" };
    let took = report.elapsed.as_secs_f64() * 1e3;
    let line = format!("  {count} {plural}{like}, {took:.1} ms");
    session.line(session.style.paint(Tone::Faint, &line))
}

fn bound(report: &Report) -> String {
    let bounded = report.statistics.bounded > 0;
    if bounded { format!(", loops ≤ {}", report.loop_bound) } else { String::new() }
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Holds => Tone::Good,
        Verdict::Violated => Tone::Bad,
        Verdict::Unknown => Tone::Note,
    }
}

/// Whether it holds because there is nothing that could fail: no named check, no assertion in a kernel, and data races are
/// no error.
fn nothing_asserted(report: &Report) -> bool {
    let forbids_races = report.model.forbids_races() && report.target != Target::Host;
    report.verdict == Verdict::Holds && !forbids_races && report.checks.is_empty() && !report.kernels_assert()
}

/// What was observed, in a few words.
fn outcomes(report: &Report) -> String {
    const SHOWN: usize = 8;
    let seen: Vec<&str> = report.outcomes.keys().take(SHOWN).map(String::as_str).collect();
    match (report.outcomes.len(), report.outcomes.len().saturating_sub(SHOWN)) {
        (0, _) => "nothing observed".to_owned(),
        (1, _) => format!("outcome {}", seen.concat()),
        (_, 0) => format!("outcomes {}", seen.join(", ")),
        (_, more) => format!("outcomes {} and {more} more", seen.join(", ")),
    }
}

/// All verdicts beside each other.
fn verdicts(session: &mut Session<'_>, judged: &Judged) -> io::Result<()> {
    let mut parts = Vec::new();
    let mut notes = Vec::new();
    let racy = judged.main().is_some_and(|report| report.violations.iter().any(|wrong| wrong.kind() == "data race"));
    let mut mild = Vec::new();
    for tried in &judged.tried {
        let (tone, said) = match &tried.result {
            Ok(report) if nothing_asserted(report) => {
                mild.push(tried.name.as_str());
                notes.push(format!("{}: nothing asserted; {}", tried.name, outcomes(report)));
                (Tone::Note, "nothing asserted".to_owned())
            }
            Ok(report) => (tone(report.verdict), report.verdict.to_string()),
            Err(unjudged) => {
                notes.push(format!("{}: {}", tried.name, unjudged.why().lines().next().unwrap_or_default()));
                (Tone::Faint, unjudged.word().to_owned())
            }
        };
        parts.push(format!("{} {}", tried.name, session.style.paint(tone, &said)));
    }
    session.line(format!("  {}", parts.join(" · ")))?;
    if racy && !mild.is_empty() {
        notes.push(format!("{}: a data race is no error there", mild.join(", ")));
    }
    for note in notes {
        for (number, line) in text::wrap(&note, text::WIDTH - 6).into_iter().enumerate() {
            let indent = if number == 0 { "  " } else { "    " };
            session.line(format!("{indent}{}", session.style.paint(Tone::Faint, &line)))?;
        }
    }
    Ok(())
}

fn advice(session: &mut Session<'_>, judged: &Judged) -> io::Result<()> {
    let advice = judged.advice();
    let holds = judged.main().is_some_and(|report| report.verdict == Verdict::Holds);
    if !advice.fixes.is_empty() {
        session.line("")?;
        session.line(format!("  {} with this it holds (checked):", session.style.paint(Tone::Note, "help:")))?;
        lines(session, &advice.fixes)?;
    } else if !holds && advice.tried > 0 {
        let what = if advice.cut_short { "in the time there was" } else { "of up to three changes" };
        session.line("")?;
        session.line(format!("  no set {what} was found that makes it hold ({} tried)", advice.tried))?;
    }
    if !advice.weaker.is_empty() {
        session.line("")?;
        let head = "it still holds with all of these together (checked):";
        session.line(format!("  {} {head}", session.style.paint(Tone::Note, "could be weaker:")))?;
        lines(session, &advice.weaker)?;
    }
    if !advice.needless_alone.is_empty() {
        session
            .line(format!("  {}", session.style.paint(Tone::Note, "needless alone, needed once the above is done:")))?;
        lines(session, &advice.needless_alone)?;
    }
    if advice.cut_short {
        session.line("  (the time for advice was up; more may be possible)")?;
    }
    Ok(())
}

fn lines(session: &mut Session<'_>, changes: &[Change]) -> io::Result<()> {
    for change in changes {
        session.line(format!("    line {} of {}: {}", change.site.line, change.kernel, change.text))?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Document<'a> {
    scenarios: Vec<ScenarioDocument<'a>>,
}

#[derive(Serialize)]
struct ScenarioDocument<'a> {
    name: &'a str,
    verdicts: Vec<VerdictDocument<'a>>,
    advice: AdviceDocument,
}

#[derive(Serialize)]
struct VerdictDocument<'a> {
    target: &'a str,
    verdict: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<&'static str>,
    shapes: Vec<String>,
    violated_in: Vec<String>,
    executions: u64,
    abandoned: u64,
    runs: u64,
    loop_bound: Option<u32>,
    violations: Vec<ViolationDocument>,
    /// Dependencies that keep some outcome away: the line that reads, and the line whose store waits for it.
    rests_on: Vec<[String; 2]>,
    unknown: Vec<String>,
    outcomes: Vec<String>,
    checks: Vec<String>,
    /// Whether it holds because there is nothing that could fail.
    nothing_asserted: bool,
    milliseconds: f64,
}

#[derive(Serialize)]
struct ViolationDocument {
    kind: &'static str,
    story: String,
}

#[derive(Serialize)]
struct AdviceDocument {
    fixes: Vec<ChangeDocument>,
    weaker: Vec<ChangeDocument>,
    needless_alone: Vec<ChangeDocument>,
    tried: u64,
    cut_short: bool,
}

#[derive(Serialize)]
struct ChangeDocument {
    file: String,
    line: u32,
    kernel: String,
    change: String,
}

/// The report as a document.
pub fn document(all: &[Judged]) -> impl Serialize + '_ {
    let changes = |changes: &[Change]| {
        changes
            .iter()
            .map(|change| ChangeDocument {
                file: change.site.file.to_owned(),
                line: change.site.line,
                kernel: change.kernel.clone(),
                change: change.text.clone(),
            })
            .collect()
    };
    let scenarios = all.iter().map(|judged| ScenarioDocument {
        name: judged.scenario.name,
        verdicts: judged.tried.iter().map(verdict).collect(),
        advice: AdviceDocument {
            fixes: changes(&judged.advice.fixes),
            weaker: changes(&judged.advice.weaker),
            needless_alone: changes(&judged.advice.needless_alone),
            tried: judged.advice.tried,
            cut_short: judged.advice.cut_short,
        },
    });
    Document { scenarios: scenarios.collect() }
}

fn verdict(tried: &Tried) -> VerdictDocument<'_> {
    let report = match &tried.result {
        Ok(report) => report,
        Err(error) => {
            return VerdictDocument {
                target: &tried.name,
                verdict: error.word().into(),
                model: None,
                progress: None,
                shapes: Vec::new(),
                violated_in: Vec::new(),
                executions: 0,
                abandoned: 0,
                runs: 0,
                loop_bound: None,
                violations: Vec::new(),
                rests_on: Vec::new(),
                unknown: vec![error.why()],
                outcomes: Vec::new(),
                checks: Vec::new(),
                nothing_asserted: false,
                milliseconds: 0.0,
            };
        }
    };
    let violations = report
        .violations
        .iter()
        .map(|violation| ViolationDocument { kind: violation.kind(), story: tell(violation, report).to_string() });
    VerdictDocument {
        target: &tried.name,
        verdict: report.verdict.to_string(),
        model: Some(report.model.name()),
        progress: Some(report.progress.name()),
        shapes: report.shapes.clone(),
        violated_in: report.violated_in.clone(),
        executions: report.statistics.complete,
        abandoned: report.statistics.abandoned,
        runs: report.runs,
        loop_bound: (report.statistics.bounded > 0).then_some(report.loop_bound),
        violations: violations.collect(),
        rests_on: report.rests_on.iter().map(|(read, store)| [read.to_string(), store.to_string()]).collect(),
        unknown: report.unknown.iter().map(ToString::to_string).collect(),
        outcomes: report.outcomes.keys().cloned().collect(),
        checks: report.checks.clone(),
        nothing_asserted: nothing_asserted(report),
        milliseconds: report.elapsed.as_secs_f64() * 1e3,
    }
}

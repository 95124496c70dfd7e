//! The report of `wattle check`.

use std::io;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use wattle::checker::{Advice, Change, Checker, Report, Verdict};
use wattle::story::Role;
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
    /// The name of the target, or of the model.
    pub name: String,
    pub checker: Checker,
    pub result: Result<Report, Unjudged>,
}

/// The reason why there is no report.
pub enum Unjudged {
    /// The target, or the checker, cannot do what the scenario needs.
    Impossible(Error),
    /// The command's limit was reached before there was a report.
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
    let style = session.style;
    for line in report.details(text::WIDTH, &|role, text| paint(style, role, text)).lines() {
        session.line(line)?;
    }
    advice(session, judged)
}

fn paint(style: Style, role: Role, text: &str) -> String {
    match role {
        Role::Good => style.paint(Tone::Good, text),
        Role::Note => style.paint(Tone::Note, text),
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
    let expected = judged.scenario.expectation == Expectation::Refuted && report.verdict == Verdict::Violated;
    let expected = if expected { ", as it should be," } else { "," };
    session.line(format!(
        "{}  {} under {}{expected} for {}",
        session.style.paint(Tone::Strong, judged.scenario.name),
        session.style.paint(tone(report), &report.answer()),
        report.model,
        report.size(),
    ))?;
    session.line(session.style.paint(Tone::Faint, &format!("  {}", report.effort())))
}

fn tone(report: &Report) -> Tone {
    match report.verdict {
        Verdict::Holds if report.nothing_asserted() => Tone::Note,
        Verdict::Holds => Tone::Good,
        Verdict::Violated => Tone::Bad,
        Verdict::Unknown => Tone::Note,
    }
}

/// The observed outcomes, in a few words.
fn outcomes(report: &Report) -> String {
    const SHOWN: usize = 8;
    if report.summaries.len() > 1 {
        let summaries: Vec<_> = report.summaries.iter().map(|text| format!("`{text}`")).collect();
        return format!("reports {}", summaries.join(", "));
    }
    let seen: Vec<&str> = report.outcomes.keys().take(SHOWN).map(String::as_str).collect();
    match (report.outcomes.len(), report.outcomes.len().saturating_sub(SHOWN)) {
        (0, _) => "nothing observed".to_owned(),
        (1, _) => format!("outcome {}", seen.concat()),
        (_, 0) => format!("outcomes {}", seen.join(", ")),
        (_, more) => format!("outcomes {} and {more} more", seen.join(", ")),
    }
}

/// Prints all verdicts beside each other.
fn verdicts(session: &mut Session<'_>, judged: &Judged) -> io::Result<()> {
    let mut parts = Vec::new();
    let mut notes = Vec::new();
    let racy = judged.main().is_some_and(|report| report.violations.iter().any(|wrong| wrong.kind() == "data race"));
    let mut mild = Vec::new();
    for tried in &judged.tried {
        let (tone, said) = match &tried.result {
            Ok(report) => {
                if report.nothing_asserted() {
                    mild.push(tried.name.as_str());
                    // What the function compares without reading a buffer is not seen.
                    let own =
                        if report.outcomes.is_empty() { ", but for what its function compares by itself" } else { "" };
                    notes.push(format!("{}: nothing asserted{own}; {}", tried.name, outcomes(report)));
                }
                (tone(report), report.answer())
            }
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
        let fewer = match advice.cut_short {
            true => "; there was no time to see whether fewer are enough",
            false => "",
        };
        session.line(format!("  {} with this it holds (checked){fewer}:", session.style.paint(Tone::Note, "help:")))?;
        lines(session, &advice.fixes)?;
    } else if !holds && advice.tried > 0 {
        let what =
            if advice.cut_short { "was found in the time there was" } else { "of up to three changes was found" };
        session.line("")?;
        session.line(format!("  no set {what} that makes it hold ({} tried)", advice.tried))?;
        for part in &advice.how_far {
            session.line(session.style.paint(Tone::Faint, &format!("    {part}")))?;
        }
    }
    if !advice.weaker.is_empty() {
        session.line("")?;
        let head = "at this size and with these inputs it still holds with all of these together (checked):";
        session.line(format!("  {} {head}", session.style.paint(Tone::Note, "could be weaker:")))?;
        lines(session, &advice.weaker)?;
    }
    if !advice.needless_alone.is_empty() {
        session
            .line(format!("  {}", session.style.paint(Tone::Note, "needless alone, needed once the above is done:")))?;
        lines(session, &advice.needless_alone)?;
    }
    if advice.cut_short && advice.fixes.is_empty() {
        session.line("  (it ended before all changes were tried; more may be possible)")?;
    }
    Ok(())
}

fn lines(session: &mut Session<'_>, changes: &[Change]) -> io::Result<()> {
    for change in changes {
        session.line(format!("    line {} of {}: {}", change.site.line, change.kernel, change.text))?;
    }
    Ok(())
}

/// The report as a document.
#[derive(Serialize)]
pub struct Document<'a> {
    pub scenarios: &'a [Judged],
}

impl Serialize for Judged {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut judged = serializer.serialize_struct("Judged", 3)?;
        judged.serialize_field("name", self.scenario.name)?;
        judged.serialize_field("verdicts", &self.tried)?;
        judged.serialize_field("advice", &self.advice)?;
        judged.end()
    }
}

/// A report, or an object with the same names that says why there is none.
impl Serialize for Tried {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.result {
            Ok(report) => report.serialize(serializer),
            Err(unjudged) => {
                let report = serde_json::to_value(self.checker.unanswered(unjudged.why()));
                let mut report = report.map_err(serde::ser::Error::custom)?;
                report["verdict"] = unjudged.word().into();
                report.serialize(serializer)
            }
        }
    }
}

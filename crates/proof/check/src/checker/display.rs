//! A report as text.

use std::fmt;

use wattle_ir::Site;

use super::rests::PATIENCE;
use crate::report::{Report, Verdict};
use crate::search::Reading;
use crate::story::{Role, tell, wrapped};

/// The width in columns of a report printed with `{}`.
const WIDTH: usize = 100;

impl Report {
    /// The shapes and bounds that the verdict is for: `3 blocks × 1 thread, loops ≤ 4`; `no launch` where the
    /// scenario has none.
    pub fn size(&self) -> String {
        let shapes = if self.verdict == Verdict::Violated { &self.violated_in } else { &self.shapes };
        let bound =
            if self.statistics.bounded > 0 { format!(", loops ≤ {}", self.loop_bound) } else { String::new() };
        // The host's part alone can fail, too.
        let shapes = if shapes.is_empty() { "no launch".into() } else { shapes.join(", ") };
        format!("{shapes}{bound}")
    }

    /// The effort of the check: `12 executions, 3.1 ms`.
    pub fn effort(&self) -> String {
        let executions = self.statistics.complete;
        let is_first = executions == 0 && self.verdict == Verdict::Violated && self.statistics.abandoned == 0;
        if is_first && self.statistics.bounded == 0 && self.kept == 0 && self.runs <= 1 {
            return format!("in the first execution, {:.1} ms", self.elapsed.as_secs_f64() * 1e3);
        }
        let plural = if executions == 1 { "execution" } else { "executions" };
        let like = if self.symmetric { ", like threads taken for one another" } else { "" };
        let kept = match self.kept {
            0 => "",
            kept if kept == self.searches => ", kept from an earlier run",
            _ => ", in part kept from an earlier run",
        };
        format!("{} {plural}{like}, {:.1} ms{kept}", thousands(executions), self.elapsed.as_secs_f64() * 1e3)
    }

    /// Whether the scenario holds only because nothing could fail: it has no named check and no assertion in a kernel,
    /// data races are no error, and what it reads, if anything, it reports as its outcome. A scenario that reads
    /// results and reports no outcome is taken to compare them by itself, unless the texts of its summaries differ from
    /// run to run.
    pub fn nothing_asserted(&self) -> bool {
        let forbids_races = self.target.forbids_races(self.model);
        let compares = self.reads_back && self.outcomes.is_empty() && self.summaries.len() <= 1;
        let asserts = !self.checks.is_empty() || self.kernels_assert() || compares;
        self.verdict == Verdict::Holds && !forbids_races && !asserts
    }

    /// The verdict in words: `nothing asserted` where nothing could fail ([`Report::nothing_asserted`]).
    pub fn answer(&self) -> String {
        if self.nothing_asserted() { "nothing asserted".to_owned() } else { self.verdict.to_string() }
    }

    /// The findings, line by line: the checks that held, the outcomes, what was not searched, and the story of each
    /// violation. Lines of stories and outcomes are at most `width` columns wide; `style` colours pieces.
    pub fn details(&self, width: usize, style: &dyn Fn(Role, &str) -> String) -> String {
        let mut lines: Vec<String> =
            self.checks.iter().map(|check| format!("  {} {check}", style(Role::Good, "always:"))).collect();
        if self.outcomes.len() > 1 || self.violations.is_empty() && !self.outcomes.is_empty() {
            lines.push("  outcomes:".to_owned());
            let outcomes: Vec<&str> = self.outcomes.keys().map(String::as_str).collect();
            let wrapped = wrapped(Role::Reason, &outcomes.join(" · "), width.saturating_sub(4), 0);
            lines.extend(wrapped.into_iter().flatten().map(|(_, line)| format!("    {line}")));
        }
        let note = |head: &str, text: String| format!("  {} {text}", style(Role::Note, head));
        let waits = |(read, store): &(Site, Site)| format!("the store at {store} waits for what {read} reads");
        lines.extend(self.rests_on.iter().map(|lines| {
            note("rests on a dependency:", format!("{}; without that there would be more outcomes", waits(lines)))
        }));
        let unseen = format!(
            "the search for outcomes that are missing only because of that ({} s at most) did not come to its end",
            PATIENCE.as_secs()
        );
        let may = |text: String| note("may rest on a dependency:", format!("{text}; {unseen}"));
        lines.extend(self.may_rest_on.iter().map(|lines| may(format!("for one, {}", waits(lines)))));
        let nowhere = self.rests_unfinished && self.may_rest_on.is_empty();
        lines.extend(nowhere.then(|| may("stores wait for what is read".to_owned())));
        lines.extend(self.rests_on_progress.iter().map(|(read, write)| {
            let text = format!(
                "where {read} waits for {write}, both threads are of one block, and all threads of a block are taken to run; \
                 Vulkan does not promise that one of a subgroup runs while another one waits"
            );
            note("rests on progress within a block:", text)
        }));
        lines.extend(self.rests_on_warps().map(|threads| {
            let text = format!(
                "of {threads} threads, which pass a barrier of their block at different statements or in different iterations; \
                 where the whole block has to be at the same, that has no meaning"
            );
            note("rests on warps:", text)
        }));
        lines.extend(self.assumes.iter().map(|site| {
            let text = format!("what {site} stores of it is taken for 0; nothing is said of what comes of other times");
            note("assumes of the clock:", text)
        }));
        lines.extend(self.notes.iter().map(|text| note("note:", text.clone())));
        lines.extend(self.unknown.iter().map(|why| note("not everything was looked at:", why.to_string())));
        lines.extend(self.covered.map(|share| {
            let counts = format!(
                "about {} of the search, {} abandoned candidates, {} events",
                percent(share),
                thousands(self.statistics.abandoned),
                thousands(self.events)
            );
            note("looked at until then:", counts)
        }));
        for violation in &self.violations {
            lines.push(String::new());
            let story = tell(violation, self).render(width.saturating_sub(2), style);
            lines.extend(story.lines().map(|line| format!("  {line}").trim_end().to_owned()));
        }
        lines.join("\n")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} under {}, for {}\n  {}", self.answer(), self.model, self.size(), self.effort())?;
        match self.details(WIDTH, &|_, text| text.to_owned()) {
            details if details.is_empty() => Ok(()),
            details => write!(f, "\n{details}"),
        }
    }
}

/// Formats a share: `37 %`, `0.0042 %`.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.0 => "0 %".to_owned(),
        1.0.. => format!("{percent:.0} %"),
        // The two digits that say something.
        _ => format!("{percent:.*} %", (1.0 - percent.log10().floor()) as usize),
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} executions, {} abandoned, {} events, about {}",
            thousands(self.executions),
            thousands(self.abandoned),
            thousands(self.events),
            percent(self.share)
        )
    }
}

/// Formats a number with thousands separators: `16,777,216`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let separated = |(at, digit): (usize, char)| {
        (at > 0 && (digits.len() - at).is_multiple_of(3)).then_some(',').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(separated).collect()
}

//! The report as text for a terminal.

use std::fmt;

use wattle_check::checker::thousands;

use crate::report::{Judgement, Outcome, Report, TestReport, Written};

fn word(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Allowed => "allowed",
        Judgement::Undefined => "a race",
        Judgement::Forbidden => "FORBIDDEN",
        Judgement::Unknown => "not known",
    }
}

/// The report in lines: a paragraph for each test, then what was not run, then the sums.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} (judged as {}), seed {}", self.device, self.target, self.seed)?;
        self.machines.iter().try_for_each(|machine| writeln!(f, "{machine}"))?;
        if self.shard_count > 1 {
            let listed = |shards: &[u64]| shards.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
            let missing = match &self.missing_shards()[..] {
                [] => String::new(),
                missing => format!("; missing: {}", listed(missing)),
            };
            writeln!(f, "shards {} of {}{missing}", listed(&self.shards), self.shard_count)?;
        }
        for test in &self.tests {
            writeln!(f)?;
            self.test(f, test)?;
        }
        for written in &self.written {
            writeln!(f)?;
            as_written(f, written)?;
        }
        for (unanswered, heading) in [(true, "not answered:"), (false, "not run:")] {
            let mut those = self.refused.iter().filter(|refused| refused.unanswered == unanswered).peekable();
            if those.peek().is_some() {
                writeln!(f, "\n{heading}")?;
            }
            those.try_for_each(|refused| writeln!(f, "  {}: {}", refused.source, refused.reason))?;
        }
        let seconds = self.milliseconds as f64 / 1000.0;
        let (tests, instances) = (self.tests.len(), thousands(self.instances()));
        writeln!(f, "\n{tests} tests, {instances} instances in {seconds:.1} s, mutants shown: {}", self.score_text())?;
        writeln!(f, "{}", self.verdict_text())
    }
}

impl Report {
    /// Returns the report's verdict in words.
    pub(crate) fn verdict_text(&self) -> &'static str {
        match (self.is_clean(), self.is_answered()) {
            (false, _) => "the model forbids what was seen",
            (true, true) => "nothing was seen that the model forbids",
            (true, false) => {
                "nothing was seen that is known to be forbidden; of some tests not all is known, or no instance came to its end"
            }
        }
    }

    fn test(&self, f: &mut fmt::Formatter<'_>, test: &TestReport) -> fmt::Result {
        writeln!(f, "{}  {}", test.name, test.source)?;
        for note in &test.notes {
            writeln!(f, "  note: {note}")?;
        }
        writeln!(f, "  {} instances in {}", thousands(test.instances), test.environments.join(" and "))?;
        if test.unfinished > 0 {
            writeln!(f, "  {} more gave up a wait", thousands(test.unfinished))?;
        }
        let wide = |outcome: &Outcome| test.text(outcome).chars().count();
        let width = test.outcomes.iter().map(wide).max().unwrap_or(0);
        for outcome in test.outcomes.iter().filter(|outcome| outcome.count > 0) {
            let rate = outcome.count as f64 / test.instances.max(1) as f64;
            let (text, count) = (test.text(outcome), thousands(outcome.count));
            let weak = if outcome.weak { "  weak" } else { "" };
            let (target, portable) = (word(outcome.target), word(outcome.portable));
            writeln!(f, "  {text:width$}  {count:>14}  {rate:9.2e}  {target} ({portable} by portable){weak}")?;
        }
        let unseen: Vec<_> = test.unseen().map(|outcome| test.text(outcome)).collect();
        if !unseen.is_empty() {
            let instances = thousands(test.instances);
            writeln!(f, "  weak, allowed, not seen in {instances} instances: {}", unseen.join("; "))?;
        }
        for mutant in &test.mutants {
            let (shown, instances) = (thousands(mutant.shown), thousands(mutant.instances));
            let came = match &mutant.out_of_reach {
                Some(reason) if mutant.shown == 0 => format!("out of reach, {reason}"),
                Some(_) | None if mutant.instances == 0 => "not run".to_owned(),
                Some(_) | None => format!("shown {shown} times in {instances}"),
            };
            writeln!(f, "  mutant, {}: {came}", mutant.change)?;
        }
        if let Some(confidence) = test.confidence {
            writeln!(f, "  a fault as frequent as these would have been seen with probability {confidence:.6}")?;
        }
        for outcome in test.forbidden() {
            let Some(first) = &outcome.first else { continue };
            writeln!(f, "  forbidden: {}, launch {}, instance {}", test.text(outcome), first.launch, first.instance)?;
            writeln!(f, "  again: {}", self.command(test, first))?;
        }
        if let Some(code) = &test.code {
            writeln!(f, "  the code:")?;
            code.lines().try_for_each(|line| writeln!(f, "    {line}"))?;
        }
        Ok(())
    }
}

fn as_written(f: &mut fmt::Formatter<'_>, written: &Written) -> fmt::Result {
    writeln!(f, "{}, as it is written: {} runs", written.scenario, thousands(written.runs))?;
    for (outcome, (count, judgement)) in &written.outcomes {
        writeln!(f, "  {outcome}  {}  {}", thousands(*count), word(*judgement))?;
    }
    let why = if written.to_be_refuted { ", as it should: it is there to be refuted" } else { "" };
    if written.failed > 0 {
        writeln!(f, "  its check failed in {} of them{why}", thousands(written.failed))?;
    }
    if let Some(error) = &written.error {
        writeln!(f, "  {error}")?;
    }
    Ok(())
}

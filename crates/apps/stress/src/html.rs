//! The report as a page that needs nothing but itself: legible on white and dark.

use std::fmt::Write;

use crate::report::{Judgement, Report, TestReport};

const STYLE: &str = "\
:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em}\
table{border-collapse:collapse}td,th{padding:.15em .8em;text-align:left;border-bottom:1px solid #8886}\
td.n{text-align:right;font-variant-numeric:tabular-nums}code,pre{font:13px ui-monospace,monospace}\
.bar{display:inline-block;height:.7em;background:#4a8fd8}.forbidden{color:#d33;font-weight:bold}.faint{opacity:.7}\
pre{overflow:auto;border:1px solid #8886;padding:.6em}";

/// Writes a report as a page of HTML.
pub fn html(report: &Report) -> String {
    let mut page = String::new();
    let title = format!("Stress of {}", report.device);
    push(&mut page, format_args!("<!doctype html><meta charset=\"utf-8\"><title>{}</title>", escaped(&title)));
    push(&mut page, format_args!("<style>{STYLE}</style><h1>{}</h1>", escaped(&title)));
    push(
        &mut page,
        format_args!(
            "<p class={}>{}</p><p>{}. Judged as {}, seed {}, {:.1} s, {} instances; mutants shown: {}.</p>",
            if report.is_clean() { "faint" } else { "forbidden" },
            report.verdict_text(),
            escaped(&report.machines.join("; ")),
            escaped(&report.target),
            report.seed,
            report.milliseconds as f64 / 1000.0,
            report.instances(),
            report.score_text()
        ),
    );
    for test in &report.tests {
        one(&mut page, report, test);
    }
    for written in &report.written {
        push(&mut page, format_args!("<h2>{}, as it is written</h2><table>", escaped(&written.scenario)));
        for (outcome, (count, judgement)) in &written.outcomes {
            let judged = judged(*judgement);
            push(&mut page, format_args!("<tr><td>{}<td class=n>{count}{judged}", escaped(outcome)));
        }
        let why = if written.to_be_refuted { ", as it should: it is there to be refuted" } else { "" };
        push(&mut page, format_args!("</table><p>{} runs, failed: {}{why}.</p>", written.runs, written.failed));
        push(&mut page, format_args!("<p>{}</p>", escaped(written.error.as_deref().unwrap_or(""))));
    }
    for (unanswered, heading) in [(true, "Not answered"), (false, "Not run")] {
        if !report.refused.iter().any(|refused| refused.unanswered == unanswered) {
            continue;
        }
        push(&mut page, format_args!("<h2>{heading}</h2><table>"));
        for refused in report.refused.iter().filter(|refused| refused.unanswered == unanswered) {
            let (source, reason) = (escaped(&refused.source), escaped(&refused.reason));
            push(&mut page, format_args!("<tr><td><code>{source}</code><td>{reason}"));
        }
        page.push_str("</table>");
    }
    page
}

fn one(page: &mut String, report: &Report, test: &TestReport) {
    push(page, format_args!("<h2>{}</h2><p class=faint><code>{}</code>, ", escaped(&test.name), escaped(&test.source)));
    push(page, format_args!("{} instances in {}</p>", test.instances, escaped(&test.environments.join(" and "))));
    for note in &test.notes {
        push(page, format_args!("<p class=faint>{}.</p>", escaped(note)));
    }
    if test.unfinished > 0 {
        push(page, format_args!("<p>{} more gave up a wait.</p>", test.unfinished));
    }
    page.push_str("<table><tr><th>outcome<th>instances<th>rate<th><th>target<th>portable<th>");
    for outcome in test.outcomes.iter().filter(|outcome| outcome.count > 0 || outcome.weak) {
        let rate = outcome.count as f64 / test.instances.max(1) as f64;
        // A bar over eight powers of ten, since weak outcomes are rare.
        let width = if outcome.count == 0 { 0.0 } else { ((8.0 + rate.log10()) / 8.0 * 160.0).clamp(2.0, 160.0) };
        let weak = match (outcome.weak, outcome.count) {
            (true, 0) => "weak, not seen",
            (true, _) => "weak",
            (false, _) => "",
        };
        let (text, count) = (escaped(&test.text(outcome)), outcome.count);
        push(page, format_args!("<tr><td><code>{text}</code><td class=n>{count}<td class=n>{rate:.2e}"));
        push(page, format_args!("<td><span class=bar style=\"width:{width:.0}px\"></span>"));
        push(page, format_args!("{}{}<td>{weak}", judged(outcome.target), judged(outcome.portable)));
    }
    page.push_str("</table>");
    if !test.mutants.is_empty() {
        page.push_str("<table><tr><th>mutant<th>shown<th>instances<th>");
        for mutant in &test.mutants {
            let (change, shown, instances) = (escaped(&mutant.change), mutant.shown, mutant.instances);
            let reason = mutant.out_of_reach.as_ref().filter(|_| mutant.shown == 0).map_or("", String::as_str);
            push(page, format_args!("<tr><td><code>{change}</code><td class=n>{shown}<td class=n>{instances}"));
            push(page, format_args!("<td>{}", escaped(reason)));
        }
        page.push_str("</table>");
    }
    if let Some(confidence) = test.confidence {
        let said = "a fault as frequent as the mutants' would have been seen with probability";
        push(page, format_args!("<p>{said} {confidence:.6}.</p>"));
    }
    for first in test.forbidden().filter_map(|outcome| outcome.first.as_ref()) {
        push(page, format_args!("<p>Again: <code>{}</code></p>", escaped(&report.command(test, first))));
    }
    if let Some(code) = &test.code {
        push(page, format_args!("<pre>{}</pre>", escaped(code)));
    }
}

fn judged(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Allowed => "<td>allowed",
        Judgement::Undefined => "<td>undefined: a race",
        Judgement::Forbidden => "<td class=forbidden>forbidden",
        Judgement::Unknown => "<td>not known",
    }
}

/// Appends formatted text; writing to a string cannot fail.
fn push(page: &mut String, piece: std::fmt::Arguments<'_>) {
    let _ = page.write_fmt(piece);
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

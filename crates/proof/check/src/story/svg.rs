//! A story as a picture.

use std::fmt::Write as _;

use wattle_memory::Model;

use super::layout::{Area, Arrow, Box, LINE, Picture, SMALL, layout};
use super::{Edge, EdgeKind, End, Part, Story, explain};
use crate::report::{Progress, Violation, Witness};
use crate::wrap::hanging;

/// The options of a picture.
#[derive(Clone, Copy, Debug)]
pub struct SvgOptions<'a> {
    /// The violation, if any; then the threads without a part in it are omitted.
    pub violation: Option<&'a Violation>,
    /// The model under which the execution was found.
    pub model: Model,
    /// Whether a headline above the threads says what is wrong.
    pub headline: bool,
}

impl Default for SvgOptions<'_> {
    fn default() -> Self {
        SvgOptions { violation: None, model: Model::Portable, headline: true }
    }
}

/// The execution graph of a witness as an SVG picture.
pub fn svg(witness: &Witness, options: &SvgOptions<'_>) -> String {
    let mut story = match options.violation {
        Some(violation) => explain::violation(violation, options.model, Progress::default()),
        None => explain::holding(witness, options.model),
    };
    if !options.headline {
        story.headline.clear();
    }
    story.svg()
}

/// The maximum number of initial values drawn if nothing is wrong; if something is, those that it reads are drawn.
const MOST_INITIALS: usize = 4;
const HEADING: f64 = 44.0;
const SANS: &str = "DejaVu Sans, Verdana, sans-serif";
const MONO: &str = "DejaVu Sans Mono, Menlo, Consolas, monospace";

impl Story {
    /// The story as an SVG picture: a column for each thread, and the edges between their steps.
    pub fn svg(&self) -> String {
        let edges = self.drawn_edges();
        // The width decides how the headline is broken, and that decides how far down the threads begin.
        let width = layout(self, &edges, 0.0).width.max(legend_width(&edges));
        let headline =
            if self.headline.is_empty() { Vec::new() } else { hanging(&self.headline, (width / 7.6) as usize) };
        let top = 14.0 + if headline.is_empty() { 0.0 } else { headline.len() as f64 * 18.0 + 12.0 };
        let layout = layout(self, &edges, top + HEADING);
        let height = layout.bottom + 52.0;
        let mut out = String::new();
        self.write(&mut out, &layout, &edges, (width, height), &headline, top);
        out
    }

    fn write(
        &self,
        out: &mut String,
        layout: &Picture,
        edges: &[Edge],
        size: (f64, f64),
        headline: &[String],
        top: f64,
    ) {
        let (width, height) = size;
        // Writing into a `String` cannot fail.
        let _ = writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} \
             {height:.0}\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
        );
        arrowheads(out);
        for (at, line) in headline.iter().enumerate() {
            let place = (16.0, 24.0 + at as f64 * 18.0);
            text(
                out,
                place,
                line,
                &format!("font-family=\"{SANS}\" font-size=\"13\" font-weight=\"bold\" fill=\"{WRONG}\""),
            );
        }
        for (column, &(middle, _)) in self.columns.iter().zip(&layout.columns) {
            let style = format!(
                "font-family=\"{SANS}\" font-size=\"14\" font-weight=\"bold\" text-anchor=\"middle\" fill=\"#222222\""
            );
            text(out, (middle, top + 14.0), &column.name, &style);
            let style = format!("font-family=\"{SANS}\" font-size=\"11\" text-anchor=\"middle\" fill=\"#777777\"");
            text(out, (middle, top + 30.0), &column.kernel, &style);
        }
        self.program_order(out, layout);
        for arrow in &layout.arrows {
            draw_arrow(out, arrow);
        }
        for one in &layout.boxes {
            draw_box(out, one);
        }
        for arrow in &layout.arrows {
            draw_label(out, arrow);
        }
        legend(out, edges, layout.bottom + 34.0);
        out.push_str("</svg>\n");
    }

    /// The edges that are drawn.
    fn drawn_edges(&self) -> Vec<Edge> {
        let wrong =
            |end: End| matches!(end, End::Step(column, step) if self.columns[column].steps[step].part == Part::Wrong);
        let row = |end: End| match end {
            End::Step(column, step) => (column, self.columns[column].steps[step].row),
            End::Initial(_) => (0, 0),
        };
        let right = self.columns.iter().flat_map(|column| &column.steps).all(|step| step.part != Part::Wrong);
        let few = right && self.initials.len() <= MOST_INITIALS;
        let shown = |edge: &&Edge| match (edge.kind, edge.from) {
            (_, End::Initial(_)) => few || wrong(edge.to),
            (EdgeKind::Barrier, _) => row(edge.from).1 == row(edge.to).1 && row(edge.from).0 + 1 == row(edge.to).0,
            // The edge of the read that misses the write shows this already.
            (EdgeKind::Missing, _) => !self
                .edges
                .iter()
                .any(|other| other.kind == EdgeKind::FromReads && other.to == edge.from && other.from == edge.to),
            (
                EdgeKind::ReadsFrom
                | EdgeKind::Observes
                | EdgeKind::Synchronizes
                | EdgeKind::Coherence
                | EdgeKind::FromReads,
                _,
            ) => true,
        };
        self.edges.iter().filter(shown).copied().collect()
    }

    fn program_order(&self, out: &mut String, layout: &Picture) {
        let mut boxes = layout.boxes.iter().filter(|one| !one.initial);
        for column in &self.columns {
            let of: Vec<&Box> = boxes.by_ref().take(column.steps.len()).collect();
            for (pair, step) in of.windows(2).zip(column.steps.iter().skip(1)) {
                let x = pair[0].area.x + pair[0].area.width / 2.0;
                let (from, to) = (pair[0].area.y + pair[0].area.height, pair[1].area.y);
                let dashes = if step.skipped > 0 { " stroke-dasharray=\"2 4\"" } else { "" };
                let _ = writeln!(
                    out,
                    "<path d=\"M{x:.1} {from:.1}V{to:.1}\" stroke=\"#b5b5b5\" stroke-width=\"1.2\"{dashes}/>"
                );
            }
        }
    }
}

const WRONG: &str = "#c62828";

fn colour(kind: EdgeKind) -> (&'static str, &'static str) {
    match kind {
        EdgeKind::ReadsFrom => ("#2e7d32", ""),
        EdgeKind::Observes => ("#2e7d32", " stroke-dasharray=\"8 3\""),
        EdgeKind::Coherence => ("#e07b00", ""),
        EdgeKind::FromReads => (WRONG, " stroke-dasharray=\"6 4\""),
        EdgeKind::Synchronizes => ("#1565c0", ""),
        EdgeKind::Barrier => ("#1565c0", " stroke-dasharray=\"2 3\""),
        EdgeKind::Missing => (WRONG, " stroke-dasharray=\"2 5\""),
    }
}

const KINDS: [(EdgeKind, &str); 7] = [
    (EdgeKind::ReadsFrom, "reads from"),
    (EdgeKind::Observes, "reads from, through others' updates"),
    (EdgeKind::Coherence, "newer write"),
    (EdgeKind::FromReads, "misses a newer write"),
    (EdgeKind::Synchronizes, "synchronizes"),
    (EdgeKind::Barrier, "barrier"),
    (EdgeKind::Missing, "nothing orders them"),
];

fn name(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::ReadsFrom => "rf",
        EdgeKind::Observes => "observes",
        EdgeKind::Coherence => "co",
        EdgeKind::FromReads => "fr",
        EdgeKind::Synchronizes => "sync",
        EdgeKind::Barrier => "barrier",
        EdgeKind::Missing => "missing",
    }
}

fn arrowheads(out: &mut String) {
    out.push_str("<defs>\n");
    for (kind, _) in KINDS {
        let (id, (colour, _)) = (name(kind), colour(kind));
        let _ = writeln!(
            out,
            "<marker id=\"{id}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" \
             orient=\"auto-start-reverse\"><path d=\"M0 1L10 5L0 9z\" fill=\"{colour}\"/></marker>"
        );
    }
    out.push_str("</defs>\n");
}

/// Draws a path with rounded corners.
fn draw_arrow(out: &mut String, arrow: &Arrow) {
    const ROUND: f64 = 6.0;
    let mut path = String::new();
    let corners = &arrow.corners;
    for (at, &(x, y)) in corners.iter().enumerate() {
        if at == 0 || at + 1 == corners.len() {
            let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { "M" } else { "L" });
            continue;
        }
        let toward = |(to_x, to_y): (f64, f64)| {
            let length = (to_x - x).hypot(to_y - y).max(0.001);
            let round = ROUND.min(length / 2.0) / length;
            (x + (to_x - x) * round, y + (to_y - y) * round)
        };
        let (before, after) = (toward(corners[at - 1]), toward(corners[at + 1]));
        let _ = write!(path, "L{:.1} {:.1}Q{x:.1} {y:.1} {:.1} {:.1}", before.0, before.1, after.0, after.1);
    }
    let (colour, dashes) = colour(arrow.kind);
    let head = match arrow.kind {
        EdgeKind::Barrier => String::new(),
        EdgeKind::Missing => " marker-start=\"url(#missing)\" marker-end=\"url(#missing)\"".to_owned(),
        kind => format!(" marker-end=\"url(#{})\"", name(kind)),
    };
    let _ = writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"{dashes}{head}/>");
}

fn draw_label(out: &mut String, arrow: &Arrow) {
    let Area { x, y, width, height } = arrow.label;
    let (colour, _) = colour(arrow.kind);
    let _ =
        writeln!(out, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"#ffffff\"/>");
    let style = format!("font-family=\"{SANS}\" font-size=\"11\" text-anchor=\"middle\" fill=\"{colour}\"");
    text(out, (x + width / 2.0, y + 11.0), arrow.kind.label(), &style);
}

fn draw_box(out: &mut String, one: &Box) {
    let Area { x, y, width, height } = one.area;
    let (fill, stroke, thick) = match one.part {
        _ if one.initial => ("#fafafa", "#bbbbbb", 1.0),
        Part::Other => ("#f4f6f8", "#8a94a0", 1.0),
        Part::Cause => ("#fff3d6", "#e07b00", 1.6),
        Part::Wrong => ("#fdecea", WRONG, 2.0),
    };
    let _ = writeln!(
        out,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"6\" fill=\"{fill}\" \
         stroke=\"{stroke}\" stroke-width=\"{thick}\"/>"
    );
    if one.initial {
        let style = format!("font-family=\"{MONO}\" font-size=\"11\" text-anchor=\"middle\" fill=\"#666666\"");
        for line in &one.text {
            text(out, (x + width / 2.0, y + 16.0), line, &style);
        }
        return;
    }
    let style = format!("font-family=\"{MONO}\" font-size=\"11\" text-anchor=\"end\" fill=\"#999999\"");
    text(out, (x + 32.0, y + LINE + 2.0), &one.number, &style);
    for (at, line) in one.text.iter().enumerate() {
        let style = format!("font-family=\"{MONO}\" font-size=\"12\" fill=\"#1d1d1d\"");
        text(out, (x + 40.0, y + LINE * (at + 1) as f64 + 2.0), line, &style);
    }
    for (at, line) in one.notes.iter().enumerate() {
        let colour = if one.part == Part::Wrong { WRONG } else { "#4a5a6a" };
        let style = format!("font-family=\"{MONO}\" font-size=\"11\" fill=\"{colour}\"");
        text(out, (x + 40.0, y + LINE * (one.text.len() + at + 1) as f64 + 2.0), line, &style);
    }
}

fn used(edges: &[Edge]) -> impl Iterator<Item = (EdgeKind, &'static str)> + '_ {
    KINDS.into_iter().filter(|(kind, _)| edges.iter().any(|edge| edge.kind == *kind))
}

fn legend_width(edges: &[Edge]) -> f64 {
    used(edges).map(|(_, words)| words.chars().count() as f64 * SMALL + 58.0).sum::<f64>() + 32.0
}

fn legend(out: &mut String, edges: &[Edge], y: f64) {
    let mut x = 16.0;
    for (kind, words) in used(edges) {
        let (colour, dashes) = colour(kind);
        let _ = writeln!(
            out,
            "<path d=\"M{x:.1} {y:.1}h26\" stroke=\"{colour}\" stroke-width=\"1.8\" fill=\"none\"{dashes}/>"
        );
        let style = format!("font-family=\"{SANS}\" font-size=\"11\" fill=\"#444444\"");
        text(out, (x + 34.0, y + 4.0), words, &style);
        x += words.chars().count() as f64 * SMALL + 58.0;
    }
}

fn text(out: &mut String, (x, y): (f64, f64), words: &str, style: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" xml:space=\"preserve\" {style}>{words}</text>");
}

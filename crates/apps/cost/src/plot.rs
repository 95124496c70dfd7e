//! Pictures of reports, as SVG: dark on a white ground of their own, so that they are read on dark pages too.

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::columns::number;
use crate::interference::BURSTS;
use crate::report::{Cost, Memory, Question, Report, Row};
use crate::statistics::Figure;

/// Colours that can be distinguished on white, also by most people with colour vision deficiencies (P. Tol, "Colour
/// Schemes", 2021: bright and high contrast).
const COLORS: [RGBColor; 8] = [
    RGBColor(0x44, 0x77, 0xaa),
    RGBColor(0x22, 0x88, 0x33),
    RGBColor(0xcc, 0x99, 0x00),
    RGBColor(0xcc, 0x33, 0x11),
    RGBColor(0x88, 0x22, 0x88),
    RGBColor(0x00, 0x99, 0x99),
    RGBColor(0x77, 0x77, 0x77),
    RGBColor(0x33, 0x22, 0x11),
];
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const FAINT: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);

/// The size of one chart, and of what stands around them, in pixels.
const CHART: (u32, u32) = (460, 360);
const LEGEND: u32 = 250;
const CAPTION: u32 = 56;

/// A line of a chart: where it is at each place of the axis, as far as it was measurable.
struct Line {
    name: String,
    points: Vec<(usize, Figure)>,
}

/// A chart: its places along the horizontal axis, evenly spaced, and its lines.
struct Chart {
    title: String,
    along: &'static str,
    places: Vec<String>,
    lines: Vec<Line>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

impl Report {
    /// The report as an SVG picture.
    pub fn svg(&self) -> String {
        let charts = match self.question {
            Question::Fences => self.charts_of_fences(),
            Question::Interference => self.charts_of_interference(),
        };
        let columns = charts.iter().map(Vec::len).max().unwrap_or(0).max(1) as u32;
        let size = (CHART.0 * columns + LEGEND, CAPTION + CHART.1 * charts.len().max(1) as u32);
        let mut svg = String::new();
        // Writing to a string does not fail.
        let _ = self.draw(&charts, &SVGBackend::with_string(&mut svg, size).into_drawing_area());
        svg
    }

    fn draw(&self, charts: &[Vec<Chart>], root: &Area<'_>) -> Result<(), String> {
        root.fill(&WHITE).map_err(said)?;
        let what = match self.question {
            Question::Fences => "What a fence costs",
            Question::Interference => "What a fence costs beside another launch",
        };
        write(root, what, (16, 10), 20)?;
        write(root, &self.machine.line(), (16, 36), 13)?;
        let unit = self.unit();
        let lines = || charts.iter().flatten().flat_map(|chart| &chart.lines);
        let points = || lines().flat_map(|line| line.points.iter().map(|point| point.1));
        // One scale, so that charts can be compared.
        let least = points().map(|figure| figure.median).fold(f64::MAX, f64::min);
        let most = points().map(|figure| figure.median).fold(0.0, f64::max);
        let scale = if most > 0.0 { (least / 1.6, most * 1.6) } else { (0.1, 10.0) };
        let mut names: Vec<&str> = Vec::new();
        for line in lines() {
            if !names.contains(&line.name.as_str()) {
                names.push(&line.name);
            }
        }
        for (row, charts) in charts.iter().enumerate() {
            for (column, chart) in charts.iter().enumerate() {
                let corner = ((CHART.0 * column as u32) as i32, (CAPTION + CHART.1 * row as u32) as i32);
                let area = root.clone().shrink(corner, CHART);
                chart.draw(&area, unit, scale, &names)?;
            }
        }
        let (width, _) = root.dim_in_pixel();
        let left = (width - LEGEND + 8) as i32;
        for (number, name) in names.iter().enumerate() {
            let top = CAPTION as i32 + 16 + number as i32 * 22;
            root.draw(&Rectangle::new([(left, top + 4), (left + 22, top + 8)], color(number).filled()))
                .map_err(said)?;
            let is_seen = lines().any(|line| line.name == **name && !line.points.is_empty());
            let name = if is_seen { (*name).to_owned() } else { format!("{name}: not measurable") };
            write(root, &name, (left + 30, top), 13)?;
        }
        let top = CAPTION as i32 + 24 + names.len() as i32 * 22;
        write(root, "medians; bars from quartile to quartile;", (left, top), 12)?;
        write(root, "no point where it was not measurable", (left, top + 16), 12)?;
        root.present().map_err(said)
    }

    /// For one block and for all: a chart for each kind of memory, by the writes in flight.
    fn charts_of_fences(&self) -> Vec<Vec<Chart>> {
        let crowds = self.crowds();
        let ends: Vec<u32> = match crowds[..] {
            [first, .., last] => vec![first, last],
            [only] => vec![only],
            [] => Vec::new(),
        };
        ends.into_iter().map(|blocks| self.charts_of_crowd(blocks)).collect()
    }

    fn charts_of_crowd(&self, blocks: u32) -> Vec<Chart> {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.blocks == blocks && is_drawn(row)).collect();
        let mut memories: Vec<Memory> = Vec::new();
        let mut writes: Vec<u32> = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        for row in &rows {
            memories.extend(row.memory.filter(|memory| !memories.contains(memory)));
            if !writes.contains(&row.writes) {
                writes.push(row.writes);
            }
            if !names.contains(&row.operation.as_str()) {
                names.push(&row.operation);
            }
        }
        writes.sort_unstable();
        let crowd = if blocks == 1 { "one block".to_owned() } else { format!("{blocks} blocks at once") };
        let chart = |memory: Memory| {
            let line = |name: &&str| {
                let points = writes.iter().enumerate().filter_map(|(place, &writes)| {
                    let is_it = |row: &&&Row| {
                        let goes_there = row.memory == Some(memory) || writes == 0 && row.memory.is_none();
                        row.operation == *name && row.writes == writes && goes_there
                    };
                    Some((place, figure(&rows.iter().find(is_it)?.cost)?))
                });
                Line { name: (*name).to_owned(), points: points.collect() }
            };
            Chart {
                title: format!("writes to {} memory, {crowd}", memory.name()),
                along: "the thread's own writes before the operation",
                places: writes.iter().map(u32::to_string).collect(),
                lines: names.iter().map(line).collect(),
            }
        };
        memories.into_iter().map(chart).collect()
    }

    /// A chart for each place that the other launch writes to, by the writes that it has in flight.
    fn charts_of_interference(&self) -> Vec<Vec<Chart>> {
        let mut memories: Vec<Memory> = Vec::new();
        let mut kinds: Vec<(&str, bool)> = Vec::new();
        for row in &self.rows {
            let Some(beside) = &row.beside else { continue };
            if !memories.contains(&beside.memory) {
                memories.push(beside.memory);
            }
            if !kinds.contains(&(&row.operation, beside.is_remote)) {
                kinds.push((&row.operation, beside.is_remote));
            }
        }
        if memories.is_empty() {
            return vec![vec![self.chart_alone()]];
        }
        let has_domains = kinds.iter().any(|&(_, is_remote)| is_remote);
        let chart = |memory: Memory| {
            let line = |&(name, is_remote): &(&str, bool)| {
                let of = |burst: Option<Option<u32>>| {
                    self.rows.iter().find(|row| {
                        row.operation == name
                            && match (&row.beside, burst) {
                                (None, None) => true,
                                (Some(beside), Some(writes)) => {
                                    (beside.memory, beside.writes, beside.is_remote) == (memory, writes, is_remote)
                                }
                                _ => false,
                            }
                    })
                };
                let bursts = std::iter::once(None).chain(BURSTS.into_iter().map(Some));
                let points = bursts.enumerate().filter_map(|(place, burst)| Some((place, figure(&of(burst)?.cost)?)));
                let domain = match (has_domains, is_remote) {
                    (false, _) => "",
                    (true, false) => ", one domain",
                    (true, true) => ", two domains",
                };
                Line { name: format!("{name}{domain}"), points: points.collect() }
            };
            let bursts = BURSTS.iter().map(|burst| burst.map_or("no wait".to_owned(), |writes| writes.to_string()));
            Chart {
                title: format!("beside writes to {}", memory.name()),
                along: "writes in flight of each thread of the other",
                places: std::iter::once("alone".to_owned()).chain(bursts).collect(),
                lines: kinds.iter().map(line).collect(),
            }
        };
        vec![memories.into_iter().map(chart).collect()]
    }
}

impl Report {
    /// The fences of a device that runs one launch at a time.
    fn chart_alone(&self) -> Chart {
        let line = |row: &Row| Line {
            name: row.operation.clone(),
            points: figure(&row.cost).map(|figure| (0, figure)).into_iter().collect(),
        };
        Chart {
            title: "alone: there is no launch beside".to_owned(),
            along: "writes in flight of each thread of the other",
            places: vec!["alone".to_owned()],
            lines: self.rows.iter().map(line).collect(),
        }
    }
}

/// What the picture of fences has: those of device scope, the strongest access of each kind, and the barriers.
fn is_drawn(row: &Row) -> bool {
    let is_fence = row.operation.starts_with("fence ") && row.operation.ends_with(" device");
    is_fence || matches!(&*row.operation, "store SeqCst device" | "fetch_add Relaxed device" | "sync_block")
}

fn figure(cost: &Cost) -> Option<Figure> {
    if cost.resolution_cycles.is_some() { cost.cycles } else { cost.nanoseconds }
}

impl Chart {
    fn draw(&self, area: &Area<'_>, unit: &str, scale: (f64, f64), names: &[&str]) -> Result<(), String> {
        let last = self.places.len() as f64 - 1.0;
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 15).into_font().color(&INK))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(-0.3..last + 0.3, (scale.0..scale.1).log_scale())
            .map_err(said)?;
        let place = |at: &f64| {
            let nearest = at.round();
            let is_near = (at - nearest).abs() < 1e-6 && nearest >= 0.0;
            is_near.then(|| self.places.get(nearest as usize).cloned()).flatten().unwrap_or_default()
        };
        chart
            .configure_mesh()
            .x_desc(self.along)
            .y_desc(format!("{unit} per operation"))
            .x_labels(2 * self.places.len())
            .x_label_formatter(&place)
            .y_label_formatter(&|value| number(*value))
            .label_style(("sans-serif", 12).into_font().color(&INK))
            .axis_style(INK)
            .bold_line_style(FAINT)
            .light_line_style(TRANSPARENT)
            .draw()
            .map_err(said)?;
        for line in &self.lines {
            let style = color(names.iter().position(|name| *name == line.name).unwrap_or(0));
            let points = line.points.iter().map(|(place, figure)| (*place as f64, figure.median));
            // A place that was not measurable is a gap.
            for part in line.points.chunk_by(|before, after| before.0 + 1 == after.0) {
                let points = part.iter().map(|(place, figure)| (*place as f64, figure.median));
                chart.draw_series(LineSeries::new(points, style.stroke_width(2))).map_err(said)?;
            }
            let bars = line.points.iter().map(|(place, figure)| {
                let ends = [figure.lower.max(scale.0), figure.upper.min(scale.1)];
                PathElement::new(ends.map(|end| (*place as f64, end)).to_vec(), style.stroke_width(1))
            });
            chart.draw_series(bars).map_err(said)?;
            chart.draw_series(points.map(|point| Circle::new(point, 3, style.filled()))).map_err(said)?;
        }
        Ok(())
    }
}

fn color(number: usize) -> RGBColor {
    COLORS[number % COLORS.len()]
}

fn write(area: &Area<'_>, text: &str, at: (i32, i32), size: u32) -> Result<(), String> {
    area.draw(&Text::new(text.to_owned(), at, ("sans-serif", size).into_font().color(&INK))).map_err(said)
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

//! The positions of the boxes and arrows of a picture.
//!
//! Threads are columns, rows are the story's. Between the columns are gutters, in which every arrow that is not
//! straight has a lane of its own; an arrow to a column farther away crosses the others in the gap above its end.

use std::collections::BTreeMap;

use super::{Edge, EdgeKind, End, Initial, Part, Step, Story};
use crate::wrap::hanging;

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Area {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    pub fn meets(&self, other: &Area) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}

/// A box with text.
#[derive(Clone, Debug)]
pub(super) struct Box {
    pub area: Area,
    pub number: String,
    pub text: Vec<String>,
    pub notes: Vec<String>,
    pub part: Part,
    pub initial: bool,
    column: usize,
    row: usize,
}

/// An arrow: its corners and its label.
#[derive(Clone, Debug)]
pub(super) struct Arrow {
    pub kind: EdgeKind,
    pub corners: Vec<(f64, f64)>,
    pub label: Area,
}

/// A picture.
#[derive(Clone, Debug, Default)]
pub(super) struct Picture {
    pub boxes: Vec<Box>,
    pub arrows: Vec<Arrow>,
    /// The middle of each column, and its width.
    pub columns: Vec<(f64, f64)>,
    pub width: f64,
    pub bottom: f64,
}

const LETTER: f64 = 7.3;
pub(super) const SMALL: f64 = 6.7;
pub(super) const LINE: f64 = 16.0;
const WIDEST: usize = 36;
const MARGIN: f64 = 16.0;
const GAP: f64 = 22.0;
const LANE: f64 = 12.0;

/// Lays a story out below `top`.
pub(super) fn layout(story: &Story, edges: &[Edge], top: f64) -> Picture {
    let mut boxes: Vec<Box> = Vec::new();
    let mut of_step: Vec<Vec<usize>> = Vec::new();
    for (column, of) in story.columns.iter().enumerate() {
        of_step.push((boxes.len()..boxes.len() + of.steps.len()).collect());
        boxes.extend(of.steps.iter().map(|step| step_box(step, column)));
    }
    // Each column that reads an initial value has that value on top.
    let mut of_initial = BTreeMap::new();
    for edge in edges {
        if let (End::Initial(number), End::Step(column, _)) = (edge.from, edge.to)
            && !of_initial.contains_key(&(number, column))
        {
            let above = boxes.iter().filter(|one| one.initial && one.column == column).count();
            of_initial.insert((number, column), boxes.len());
            boxes.push(initial_box(&story.initials[number], column, above));
        }
    }
    // Initial values of one column are stacked in the rows before the first step.
    let stacked = boxes.iter().filter(|one| one.initial).map(|one| one.row + 1).max().unwrap_or(0);
    for one in &mut boxes {
        one.row = if one.initial { stacked - 1 - one.row } else { one.row + stacked };
    }
    let find = |end: End, near: End| match (end, near) {
        (End::Step(column, step), _) => of_step.get(column).and_then(|of| of.get(step)).copied(),
        (End::Initial(number), End::Step(column, _)) => of_initial.get(&(number, column)).copied(),
        (End::Initial(_), End::Initial(_)) => None,
    };
    let ends = |edge: &Edge| Some((edge.kind, find(edge.from, edge.to)?, find(edge.to, edge.from)?));
    let ends: Vec<(EdgeKind, usize, usize)> = edges.iter().filter_map(ends).collect();
    let mut grid = Grid::new(story.columns.len(), boxes, ends);
    grid.place(top);
    grid.finish()
}

fn step_box(step: &Step, column: usize) -> Box {
    let number = step.line.map(|line| line.to_string()).unwrap_or_default();
    let text = hanging(&step.text, WIDEST);
    let says = step.says(false);
    let notes = if says.is_empty() { Vec::new() } else { hanging(&says, WIDEST + 4) };
    let letters = text.iter().map(|line| line.chars().count()).max().unwrap_or(0) as f64;
    let small = notes.iter().map(|line| line.chars().count()).max().unwrap_or(0) as f64;
    let width = (letters * LETTER).max(small * SMALL) + 52.0;
    let height = (text.len() + notes.len()) as f64 * LINE + 12.0;
    let area = Area { width, height, ..Area::default() };
    Box { area, number, text, notes, part: step.part, initial: false, column, row: step.row }
}

fn initial_box(initial: &Initial, column: usize, row: usize) -> Box {
    let value = initial.value.as_deref().unwrap_or("unwritten");
    let text = format!("{} = {value}", initial.place);
    let area = Area { width: text.chars().count() as f64 * SMALL + 20.0, height: LINE + 8.0, ..Area::default() };
    Box {
        area,
        number: String::new(),
        text: vec![text],
        notes: Vec::new(),
        part: Part::Other,
        initial: true,
        column,
        row,
    }
}

/// The route of an arrow.
struct Route {
    from: usize,
    to: usize,
    /// Whether it leaves and arrives at the right side.
    right: (bool, bool),
    gutters: (usize, usize),
    y: (f64, f64),
    lanes: (f64, f64),
    across: Option<usize>,
}

struct Grid {
    boxes: Vec<Box>,
    ends: Vec<(EdgeKind, usize, usize)>,
    routes: Vec<Route>,
    columns: Vec<(f64, f64)>,
    gutters: Vec<f64>,
    tops: Vec<f64>,
    width: f64,
    bottom: f64,
}

impl Grid {
    fn new(columns: usize, boxes: Vec<Box>, ends: Vec<(EdgeKind, usize, usize)>) -> Grid {
        let route = |&(_, from, to): &(EdgeKind, usize, usize)| {
            let (a, b) = (boxes[from].column, boxes[to].column);
            let right = (a <= b, a >= b);
            let gutters = (if right.0 { a + 1 } else { a }, if right.1 { b + 1 } else { b });
            let across = (gutters.0 != gutters.1).then_some(0);
            Route { from, to, right, gutters, y: (0.0, 0.0), lanes: (0.0, 0.0), across }
        };
        let routes = ends.iter().map(route).collect();
        Grid {
            boxes,
            ends,
            routes,
            columns: vec![(0.0, 0.0); columns],
            gutters: Vec::new(),
            tops: Vec::new(),
            width: 0.0,
            bottom: 0.0,
        }
    }

    fn place(&mut self, top: f64) {
        self.rows(top);
        self.ports();
        self.lanes();
        for one in &mut self.boxes {
            let (middle, width) = self.columns[one.column];
            if !one.initial {
                one.area.width = width;
            }
            one.area.x = middle - one.area.width / 2.0;
        }
    }

    /// Sets the heights of the rows, with room above each for the arrows that cross columns there.
    fn rows(&mut self, top: f64) {
        let rows = self.boxes.iter().map(|one| one.row + 1).max().unwrap_or(0);
        let mut crossing = vec![0usize; rows];
        for route in &mut self.routes {
            if route.across.is_some() {
                let row = self.boxes[route.to].row;
                route.across = Some(crossing[row]);
                crossing[row] += 1;
            }
        }
        let mut y = top;
        for (row, crossing) in crossing.iter().enumerate() {
            y += if row == 0 { *crossing as f64 * LANE } else { GAP + *crossing as f64 * LANE };
            self.tops.push(y);
            let of_row = self.boxes.iter_mut().filter(|one| one.row == row);
            let height = of_row.map(|one| {
                one.area.y = y;
                one.area.height
            });
            y += height.fold(0.0, f64::max);
        }
        self.bottom = y;
    }

    /// Sets where arrows leave and arrive: spread over the sides of their boxes, in the order of their other ends.
    fn ports(&mut self) {
        let mut sides: BTreeMap<(usize, bool), Vec<(usize, bool)>> = BTreeMap::new();
        for (number, route) in self.routes.iter().enumerate() {
            sides.entry((route.from, route.right.0)).or_default().push((number, true));
            sides.entry((route.to, route.right.1)).or_default().push((number, false));
        }
        for ((at, right), mut ends) in sides {
            let other = |&(number, leaves): &(usize, bool)| {
                let route = &self.routes[number];
                let other = if leaves { route.to } else { route.from };
                (self.boxes[other].row, number)
            };
            ends.sort_by_key(other);
            let area = self.boxes[at].area;
            let count = ends.len() as f64;
            for (place, (number, leaves)) in ends.into_iter().enumerate() {
                // The two sides of a gutter do not meet at one height, or arrows would lie on one another.
                let aside = if right { -3.5 } else { 3.5 };
                let y = area.y + area.height * (place as f64 + 1.0) / (count + 1.0) + aside;
                let route = &mut self.routes[number];
                if leaves { route.y.0 = y } else { route.y.1 = y }
            }
        }
        let taken: Vec<(usize, bool, f64, usize)> = self
            .routes
            .iter()
            .enumerate()
            .map(|(number, route)| (route.to, route.right.1, route.y.1, number))
            .collect();
        for (number, route) in self.routes.iter_mut().enumerate() {
            let (from, to) = (&self.boxes[route.from], &self.boxes[route.to]);
            let y = route.y.0;
            let inside = y > to.area.y + 4.0 && y < to.area.y + to.area.height - 4.0;
            let free = !taken.iter().any(|&(at, side, other, of)| {
                of != number && at == route.to && side == route.right.1 && (other - y).abs() < 7.0
            });
            if from.row == to.row && route.gutters.0 == route.gutters.1 && from.column != to.column && inside && free {
                route.y.1 = y;
            }
        }
    }

    /// Assigns lanes within the gutters, and then the widths.
    fn lanes(&mut self) {
        let mut x = MARGIN;
        for gutter in 0..=self.columns.len() {
            let mut lane = x + 16.0;
            let mut straight = 0.0f64;
            for (number, route) in self.routes.iter_mut().enumerate() {
                let width = label_width(self.ends[number].0) + 8.0;
                if is_straight(route) {
                    if route.gutters.0 == gutter {
                        straight = straight.max(width + 44.0);
                    }
                    continue;
                }
                if route.gutters.0 == gutter {
                    route.lanes.0 = lane + width / 2.0;
                    if route.gutters.1 == gutter {
                        route.lanes.1 = route.lanes.0;
                    }
                    lane += width;
                } else if route.gutters.1 == gutter {
                    route.lanes.1 = lane + LANE / 2.0;
                    lane += LANE;
                }
            }
            let used = if lane > x + 16.0 { lane - x + 20.0 } else { 0.0 };
            let least = if gutter == 0 || gutter == self.columns.len() { 0.0 } else { 36.0 };
            self.gutters.push(x);
            // A straight arrow reserves room for its label beside the lanes that cross it.
            let room = if used > 0.0 && straight > 0.0 { used.max(straight) + 28.0 } else { used.max(straight) };
            x += room.max(least);
            if let Some(column) = self.columns.get_mut(gutter) {
                let width = self
                    .boxes
                    .iter()
                    .filter(|one| one.column == gutter)
                    .map(|one| one.area.width)
                    .fold(120.0, f64::max);
                *column = (x + width / 2.0, width);
                x += width;
            }
        }
        self.width = x + MARGIN;
    }

    fn finish(self) -> Picture {
        let mut arrows: Vec<Arrow> = Vec::new();
        for (route, &(kind, ..)) in self.routes.iter().zip(&self.ends) {
            let side = |at: usize, right: bool| {
                let area = self.boxes[at].area;
                if right { area.x + area.width } else { area.x }
            };
            let start = (side(route.from, route.right.0), route.y.0);
            let end = (side(route.to, route.right.1), route.y.1);
            let mut corners = vec![start];
            if !is_straight(route) {
                corners.push((route.lanes.0, start.1));
                if let Some(lane) = route.across {
                    let y = self.tops[self.boxes[route.to].row] - 9.0 - LANE * lane as f64;
                    corners.extend([(route.lanes.0, y), (route.lanes.1, y)]);
                }
                corners.push((route.lanes.1, end.1));
            }
            corners.push(end);
            arrows.push(Arrow { kind, corners, label: Area::default() });
        }
        label(&mut arrows, &self.boxes);
        Picture { boxes: self.boxes, arrows, columns: self.columns, width: self.width, bottom: self.bottom }
    }
}

fn is_straight(route: &Route) -> bool {
    route.gutters.0 == route.gutters.1 && route.right.0 != route.right.1 && (route.y.0 - route.y.1).abs() < 0.5
}

pub(super) fn label_width(kind: EdgeKind) -> f64 {
    kind.label().chars().count() as f64 * SMALL + 8.0
}

/// Puts each label on its own arrow, where no other arrow, label or box is.
fn label(arrows: &mut [Arrow], boxes: &[Box]) {
    let lines: Vec<Vec<Area>> =
        arrows.iter().map(|arrow| arrow.corners.windows(2).map(|ends| line(ends[0], ends[1])).collect()).collect();
    let mut placed: Vec<Area> = Vec::new();
    for (number, arrow) in arrows.iter_mut().enumerate() {
        let (width, height) = (label_width(arrow.kind), 14.0);
        let free = |area: &Area| {
            !placed.iter().any(|other| other.meets(area))
                && !boxes.iter().any(|one| one.area.meets(area))
                && !lines
                    .iter()
                    .enumerate()
                    .any(|(other, lines)| other != number && lines.iter().any(|line| line.meets(area)))
        };
        let mut segments: Vec<_> = arrow.corners.windows(2).map(|ends| (ends[0], ends[1])).collect();
        segments.sort_by(|a, b| extent(*b).total_cmp(&extent(*a)));
        let middle = |(a, b): ((f64, f64), (f64, f64)), along: f64| {
            let (x, y) = (a.0 + (b.0 - a.0) * along, a.1 + (b.1 - a.1) * along);
            Area { x: x - width / 2.0, y: y - height / 2.0, width, height }
        };
        let steps = (0..41).map(|step| 0.5 + if step % 2 == 0 { step as f64 } else { -(step as f64) } * 0.0115);
        let candidates = segments.iter().flat_map(|&segment| steps.clone().map(move |along| middle(segment, along)));
        let fallback = segments.first().map(|&segment| middle(segment, 0.5)).unwrap_or_default();
        let area = candidates.into_iter().find(free).unwrap_or(fallback);
        placed.push(area);
        arrow.label = area;
    }
}

fn extent((a, b): ((f64, f64), (f64, f64))) -> f64 {
    (a.0 - b.0).abs() + (a.1 - b.1).abs()
}

fn line(a: (f64, f64), b: (f64, f64)) -> Area {
    Area {
        x: a.0.min(b.0) - 1.0,
        y: a.1.min(b.1) - 1.0,
        width: (a.0 - b.0).abs() + 2.0,
        height: (a.1 - b.1).abs() + 2.0,
    }
}

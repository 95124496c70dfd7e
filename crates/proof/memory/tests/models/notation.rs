//! Executions as text, judged by the models.
//!
//! ```text
//! P0@0  a: W x | b: F.rel.dev | c: W.rlx.dev y       thread 0 in block 0; its events in program order
//! P1@1  d: R.rlx.dev y | e: F.acq.dev | f: R x
//! rf c->d, init->f
//! ptx portable: forbidden Causality
//! ```
//!
//! An event is `R` (read), `W` (write), `U` (both halves of a read-modify-write, `u.r` and `u.w`), `F` (fence), `B`
//! (barrier), `MA` or `MV` (Vulkan's operations to the device domain), then its modifiers:
//! - an order, which makes an access atomic: `rlx`, `acq`, `rel`, `ar` (both), `sc`;
//! - a scope: `sg`, `blk`, `qf`, `dev`, `sys`;
//! - for Vulkan: `priv`; `coh`, an availability or visibility operation of the access's own; `shm`, block shared
//!   memory; `noav` and `novis`, without MakeAvailable or MakeVisible; `buf` and `blkmem`, semantics of one class alone;
//! - for PTX: `red`, an update that is a reduction.
//!
//! `x'` is the place `x` by another reference. A thread is at `block`, `device/block`, `device/family/block` or
//! `device/family/block/subgroup`.
//!
//! Relations are `rf`, `co` (used where the model orders the two writes), `fsc` (where it orders the two fences), `bar`
//! (arrival to passage), `ssw` and `launch` (of two threads). A verdict is `allowed`, `race a-b, c-d` or `forbidden
//! AXIOM`; an allowed or racy execution can be checked for more: `ordered`, `happens-before`, `causality`, `coherence`,
//! `hides`, or `not-ordered` and so on, with pairs of events.

use std::collections::HashMap;

use wattle_memory::{Analysis, Classes, EventId, Graph, Kind, Label, Level, Model, Placement};

/// An execution, before a model decides which of its orders count.
struct Case<'t> {
    text: &'t str,
    graph: Graph,
    events: HashMap<String, EventId>,
    locations: HashMap<char, usize>,
    coherence: Vec<(EventId, EventId)>,
    fences: Vec<(EventId, EventId)>,
}

/// Judges the execution that the text describes, and panics if a model's verdict differs.
#[track_caller]
pub fn case(clause: &str, text: &str) {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let places = lines.iter().filter_map(|line| line.strip_prefix('P')).map(place).collect();
    let mut case = Case {
        text,
        graph: Graph::new(places),
        events: HashMap::new(),
        locations: HashMap::new(),
        coherence: Vec::new(),
        fences: Vec::new(),
    };
    let mut thread = 0;
    let mut judged = false;
    for line in lines {
        if line.starts_with('P') {
            let (_, code) = line.split_once(char::is_whitespace).expect("a thread has events");
            code.split('|').for_each(|event| case.event(thread, event.trim()));
            thread += 1;
        } else if let Some((models, verdict)) = line.split_once(':') {
            for model in models.split_whitespace() {
                case.judge(model.parse().expect("a model"), verdict.trim(), clause);
            }
            judged = true;
        } else {
            case.relate(line);
        }
    }
    assert!(judged, "{clause}: no verdict\n{text}");
}

fn place(line: &str) -> Placement {
    let (thread, rest) = line.split_once('@').expect("P0@0");
    let at = rest.split_whitespace().next().expect("a place");
    let numbers: Vec<u32> = at.split('/').map(|number| number.parse().expect("a number")).collect();
    let (device, queue_family, block, subgroup) = match numbers[..] {
        [block] => (0, 0, block, 0),
        [device, block] => (device, 0, block, 0),
        [device, family, block] => (device, family, block, 0),
        [device, family, block, subgroup] => (device, family, block, subgroup),
        _ => panic!("{at} is no place"),
    };
    Placement { device, queue_family, block, subgroup, thread: thread.parse().expect("a number") }
}

/// The label that the words after the first dot give an event.
fn label(start: Label, modifiers: &[&str]) -> Label {
    let mut label = start;
    for &modifier in modifiers {
        let access = label.is_access();
        label = match modifier {
            "rlx" | "acq" | "rel" | "ar" | "sc" if access => Label { atomic: true, coherent: true, ..label },
            _ => label,
        };
        let (read, write) = (label.kind != Kind::Write, label.kind != Kind::Read);
        label = match modifier {
            "rlx" => label,
            "acq" if read => label.acquiring(),
            "rel" if write => label.releasing(),
            "acq" | "rel" => label,
            "ar" if access => [label.releasing(), label.acquiring()][usize::from(read)],
            "ar" => label.acquiring().releasing(),
            "sc" => label.sequentially_consistent(),
            "sg" => Label { level: Level::Subgroup, ..label },
            "blk" => Label { level: Level::Block, ..label },
            "qf" => Label { level: Level::QueueFamily, ..label },
            "dev" => Label { level: Level::Device, ..label },
            "sys" => Label { level: Level::System, ..label },
            "priv" => Label { private: true, ..label },
            "coh" => Label { coherent: true, ..label },
            "shm" => label.of(Classes::BLOCK),
            "noav" => Label { makes_available: false, ..label },
            "novis" => Label { makes_visible: false, ..label },
            "buf" => Label { semantics: Classes::BUFFER, ..label },
            "blkmem" => Label { semantics: Classes::BLOCK, ..label },
            "red" => Label { reduces: label.kind == Kind::Read, ..label },
            other => panic!("no modifier {other}"),
        };
    }
    label
}

impl Case<'_> {
    fn event(&mut self, thread: usize, text: &str) {
        let (name, what) = text.split_once(": ").unwrap_or_else(|| panic!("{text} has no name"));
        let (op, place) = what.split_once(' ').unwrap_or((what, ""));
        let (kind, modifiers) = op.split_once('.').unwrap_or((op, ""));
        let modifiers: Vec<&str> = modifiers.split('.').filter(|modifier| !modifier.is_empty()).collect();
        let fence = Label::fence(Level::Thread);
        let halves: &[(&str, Label)] = match kind {
            "R" => &[("", Label::plain_read())],
            "W" => &[("", Label::plain_write())],
            "U" => &[(".r", Label::plain_read()), (".w", Label::plain_write())],
            "F" => &[("", fence)],
            "B" => &[("", Label { kind: Kind::Barrier, ..fence })],
            "MA" => &[("", Label { kind: Kind::MakeAvailable, ..fence })],
            "MV" => &[("", Label { kind: Kind::MakeVisible, ..fence })],
            other => panic!("no event {other}"),
        };
        let mut ids = Vec::new();
        for &(half, start) in halves {
            let id = self.graph.add(thread, label(start, &modifiers), ids.len() as u32);
            if let Some(letter) = place.trim().chars().next() {
                let location = self.location(letter);
                let reference = location as u32 + if place.contains('\'') { 100 } else { 0 };
                self.graph.set_location(id, location, reference);
            }
            assert!(self.events.insert(format!("{name}{half}"), id).is_none(), "{name} again");
            ids.push(id);
        }
        if let [read, write] = ids[..] {
            self.graph.join_halves(read, write);
        }
    }

    fn location(&mut self, letter: char) -> usize {
        if let Some(&known) = self.locations.get(&letter) {
            return known;
        }
        let location = self.graph.add_location(0, false);
        self.locations.insert(letter, location);
        location
    }

    fn id(&self, name: &str) -> EventId {
        *self.events.get(name).unwrap_or_else(|| panic!("no event {name}\n{}", self.text))
    }

    /// The pairs of a list as `a->b, c->d`; `init` is the initial value of the other one's place.
    fn pairs(&self, list: &str) -> Vec<(EventId, EventId)> {
        list.split(',')
            .map(|pair| {
                let (from, to) = pair.trim().split_once("->").expect("a->b");
                let to = self.id(to);
                let initial = || self.graph.initial(self.graph.event(to).location.expect("an access"));
                (if from == "init" { initial() } else { self.id(from) }, to)
            })
            .collect()
    }

    fn relate(&mut self, line: &str) {
        let (relation, list) = line.split_once(' ').expect("a relation and its pairs");
        if relation == "launch" {
            let number = |text: &str| text.parse().expect("a thread");
            let (first, second) = list.split_once("->").expect("0->1");
            return self.graph.synchronize_threads(number(first), number(second));
        }
        for (from, to) in self.pairs(list) {
            match relation {
                "rf" => self.graph.set_source(to, from),
                "co" => self.coherence.push((from, to)),
                "fsc" => self.fences.push((from, to)),
                "bar" => self.graph.synchronize_barrier(from, to),
                "ssw" => self.graph.synchronize_system(from, to),
                other => panic!("no relation {other}"),
            }
        }
    }

    #[track_caller]
    fn judge(&self, model: Model, expected: &str, clause: &str) {
        let mut graph = self.graph.clone();
        let ordered = self.coherence.iter().filter(|&&(a, b)| model.orders_writes(&self.graph, a, b));
        ordered.for_each(|&(a, b)| graph.order_writes(a, b));
        let met = self.fences.iter().filter(|&&(a, b)| model.fences_meet(&self.graph, a, b));
        met.for_each(|&(a, b)| graph.order_fences(a, b));
        let (word, rest) = expected.split_once(' ').unwrap_or((expected, ""));
        let analysis = match model.analyse(&graph) {
            Ok(analysis) => analysis,
            Err(broken) => {
                let found = format!("forbidden {}", broken.axiom);
                assert!(!broken.section.is_empty());
                assert_eq!(found, expected, "{clause}, under {model}\n{}", self.text);
                return;
            }
        };
        self.complete(model, &graph, &analysis);
        match word {
            "allowed" | "race" | "forbidden" => {
                let races: Vec<String> = model
                    .races(&graph, &analysis)
                    .into_iter()
                    .map(|(a, b)| format!("{}-{}", self.name(a), self.name(b)))
                    .collect();
                let found = if races.is_empty() { "allowed".to_owned() } else { format!("race {}", races.join(", ")) };
                assert_eq!(found, expected, "{clause}, under {model}\n{}", self.text);
            }
            question => {
                for (a, b) in self.pairs(rest) {
                    let (negative, question) = match question.strip_prefix("not-") {
                        Some(question) => (true, question),
                        None => (false, question),
                    };
                    let holds = match question {
                        "ordered" => analysis.ordered.has(a, b),
                        "happens-before" => analysis.happens_before.has(a, b),
                        "causality" => analysis.causality.has(a, b),
                        "coherence" => analysis.coherence.has(a, b),
                        "hides" => model.hides(&graph, &analysis, a, b),
                        other => panic!("no question {other}"),
                    };
                    assert_ne!(holds, negative, "{clause}, under {model}: {expected}\n{}", self.text);
                }
            }
        }
    }

    fn name(&self, id: EventId) -> &str {
        self.events.iter().find(|(_, event)| **event == id).map_or("init", |(name, _)| name)
    }

    /// Asserts that no order which the model needs is left open: a verdict is about one execution.
    #[track_caller]
    fn complete(&self, model: Model, graph: &Graph, analysis: &Analysis) {
        let events = || 0..graph.len();
        for (a, b) in events().flat_map(|a| events().map(move |b| (a, b))).filter(|(a, b)| a < b) {
            let write = |id: EventId| graph.event(id).label.kind == Kind::Write && graph.event(id).thread.is_some();
            let place = graph.event(a).location == graph.event(b).location;
            if write(a) && write(b) && place && model.orders_writes(graph, a, b) {
                let known = analysis.coherence.has(a, b) || analysis.coherence.has(b, a);
                assert!(known, "{model} orders {} and {}\n{}", self.name(a), self.name(b), self.text);
            }
            if model.fences_meet(graph, a, b) {
                let known = analysis.causality.has(a, b) || analysis.causality.has(b, a);
                assert!(known, "{model} orders {} and {}\n{}", self.name(a), self.name(b), self.text);
            }
        }
    }
}

//! Interchangeable threads: of executions that differ only by exchanging them, one is built.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::brute::random::{Case, Random, candidates, case, for_vulkan, show};
use crate::script::{Op, constant, setup};
use wattle_check::search::{End, Execution, Visitor, search};
use wattle_memory::{Label, Level, Model, Placement};

/// A name of an event: its thread and its number there; for an initial value its place.
type Name = (usize, usize);
/// The pairs of reads-from, and of the order of writes.
type Shape = BTreeSet<(bool, Name, Name)>;

const INITIAL: usize = 99;

struct Shapes {
    model: Model,
    all: Vec<Shape>,
}

impl Visitor for Shapes {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        let graph = execution.graph;
        let mut numbers = [0; 8];
        let names: Vec<Name> = (0..graph.len())
            .map(|event| match graph.event(event).thread {
                Some(thread) => {
                    numbers[thread] += 1;
                    (thread, numbers[thread])
                }
                None => {
                    let place =
                        execution.cells.iter().find(|(_, location)| graph.event(event).location == Some(*location));
                    (INITIAL, place.map_or(0, |(address, _)| address.element as usize))
                }
            })
            .collect();
        let sources = (0..graph.len()).filter_map(|read| Some((true, names[graph.source(read)?], names[read])));
        // Other writes are ordered at most by an order of fences, which is not part of an execution.
        let ordered = |&(a, b): &(usize, usize)| self.model.orders_writes(graph, a, b);
        let order = execution.analysis.coherence.pairs().filter(ordered).map(|(a, b)| (false, names[a], names[b]));
        self.all.push(sources.chain(order).collect());
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn shapes(case: &Case, model: Model, symmetric: bool) -> Vec<Shape> {
    let mut setup = setup(&case.program, case.places.clone(), model);
    if symmetric {
        setup.symmetric = vec![(0..case.program.len()).collect()];
    }
    let mut shapes = Shapes { model, all: Vec::new() };
    assert_eq!(search(&setup, &mut shapes).0, End::Exhausted);
    shapes.all
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    let Some(last) = n.checked_sub(1) else { return vec![Vec::new()] };
    let insert = |order: Vec<usize>| {
        (0..=last).map(move |at| {
            let mut order = order.clone();
            order.insert(at, last);
            order
        })
    };
    permutations(last).into_iter().flat_map(insert).collect()
}

fn renamed(shape: &Shape, order: &[usize]) -> Shape {
    let name = |(thread, number): Name| (order.get(thread).copied().unwrap_or(thread), number);
    shape.iter().map(|&(from, a, b)| (from, name(a), name(b))).collect()
}

#[test]
fn executions_are_those_that_are_built_with_threads_that_do_the_same_exchanged() {
    let mut random = Random(31);
    let programs = std::env::var("WATTLE_TEST_MANY").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000);
    let (mut all, mut built, mut twice) = (0, 0, 0);
    for number in 0..programs {
        let threads = 2 + random.below(3) as usize;
        let body = loop {
            let case = case(&mut random, 6);
            let fits = |ops: &Vec<Op>| {
                (1..=[4, 3, 2][threads - 2]).contains(&ops.len()) && candidates(&vec![ops.clone(); threads]) < 50_000
            };
            if let Some(body) = case.program.into_iter().find(fits) {
                break body;
            }
        };
        let together = random.one_in(2);
        let place = |thread: usize| {
            if together { Placement::new(0, thread as u32) } else { Placement::new(thread as u32, 0) }
        };
        let mut program = vec![body; threads];
        // Some threads do something else before their first read.
        if random.one_in(2) {
            for ops in &mut program {
                if random.one_in(2) {
                    continue;
                }
                let label = if random.one_in(2) { Label::plain_write() } else { Label::atomic_write(Level::Device) };
                let (cell, value) = (random.below(2), constant(1 + random.below(2)));
                ops.insert(0, Op::Store { cell, value, label });
            }
        }
        let case = Case { program, places: (0..threads).map(place).collect() };
        if candidates(&case.program) > 50_000 {
            continue;
        }
        let keeps = |order: &Vec<usize>| (0..threads).all(|at| case.program[order[at]] == case.program[at]);
        let orders: Vec<Vec<usize>> = permutations(threads).into_iter().filter(keeps).collect();
        for model in Model::ALL {
            let case = if model == Model::Vulkan { for_vulkan(&case) } else { case.clone() };
            let full = shapes(&case, model, false);
            let reduced = shapes(&case, model, true);
            let set: BTreeSet<Shape> = full.iter().cloned().collect();
            assert_eq!(set.len(), full.len(), "program {number}, {model}: built twice\n{}", show(&case));
            let mut orbits = BTreeSet::new();
            for shape in &reduced {
                twice += usize::from(orbits.contains(shape));
                orbits.extend(orders.iter().map(|order| renamed(shape, order)));
            }
            assert!(orbits == set, "program {number}, {model}: {} and {}\n{}", orbits.len(), set.len(), show(&case));
            all += full.len();
            built += reduced.len();
        }
    }
    println!("{programs} programs under six models: {all} executions, {built} built, {twice} of them again");
}

/// A source that is one of the threads' own writes differs for each of them.
#[test]
fn threads_that_read_what_each_other_wrote_are_all_there() {
    let store = Op::Store { cell: 0, value: constant(1), label: Label::plain_write() };
    let load = Op::Load { to: 1, cell: 0, label: Label::plain_read() };
    for threads in 2..=4 {
        let places = (0..threads).map(|thread| Placement::new(thread as u32, 0)).collect();
        let case = Case { program: vec![vec![store.clone(), load.clone()]; threads], places };
        let (full, reduced) = (shapes(&case, Model::Portable, false), shapes(&case, Model::Portable, true));
        let orders = permutations(threads);
        let orbits = |shape: &Shape| orders.iter().map(|order| renamed(shape, order)).collect::<Vec<_>>();
        let all: BTreeSet<Shape> = reduced.iter().flat_map(orbits).collect();
        assert_eq!((threads, all.len()), (threads, full.len()));
    }
}

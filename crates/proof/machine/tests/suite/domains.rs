//! Random kernels in both domains: a thread with deferred values makes the same requests as one with words.

use std::sync::Arc;

use crate::generator::{Generator, TYPES, environment, same, valid};
use proptest::prelude::*;
use wattle_ir::{MAX_RANK, Type};
use wattle_machine::{Deferred, Environment, Location, Program, Request, Thread, Value};

/// A request without its values, and the values.
struct Parts<V: Value> {
    shape: Request,
    element: Type,
    index: Option<V::Index>,
    values: Vec<V>,
}

fn parts<V: Value>(request: Request<V>) -> Parts<V> {
    let (mut place, mut values) = (None, Vec::new());
    let mut at = |location: Location<V>| {
        place = Some((location.element, location.index));
        let Location { place, element, rank, site, .. } = location;
        Location { place, element, rank, index: [0; MAX_RANK], site }
    };
    let shape = match request {
        Request::Load(location) => Request::Load(at(location)),
        Request::LoadLanes { location, lanes } => Request::LoadLanes { location: at(location), lanes },
        Request::Store { location, value } => {
            values.push(value);
            Request::Store { location: at(location), value: 0 }
        }
        Request::StoreLanes { location, values: lanes } => {
            let none = vec![0; lanes.len()];
            values.extend(lanes);
            Request::StoreLanes { location: at(location), values: none }
        }
        Request::AtomicLoad { location, order, scope } => Request::AtomicLoad { location: at(location), order, scope },
        Request::AtomicStore { location, value, order, scope } => {
            values.push(value);
            Request::AtomicStore { location: at(location), value: 0, order, scope }
        }
        Request::AtomicUpdate { location, op, operand, order, scope } => {
            values.push(operand);
            Request::AtomicUpdate { location: at(location), op, operand: 0, order, scope }
        }
        Request::CompareExchange { location, expected, desired, order, scope } => {
            values.extend([expected, desired]);
            Request::CompareExchange { location: at(location), expected: 0, desired: 0, order, scope }
        }
        Request::Fence { order, scope, site } => Request::Fence { order, scope, site },
        Request::Barrier { iterations, site } => Request::Barrier { iterations, site },
        Request::Clock { site } => Request::Clock { site },
        Request::Warp { op, ty, value, operand, iterations, site } => {
            values.extend([value, operand]);
            Request::Warp { op, ty, value: 0, operand: 0, iterations, site }
        }
        Request::WarpBarrier { iterations, site } => Request::WarpBarrier { iterations, site },
        Request::LoopHead { label, site } => Request::LoopHead { label, site },
        Request::BackEdge { label, site } => Request::BackEdge { label, site },
        Request::Fault(fault) => Request::Fault(fault),
        Request::NeedsValue => Request::NeedsValue,
        Request::OutOfFuel => Request::OutOfFuel,
        Request::Done => Request::Done,
    };
    let (element, index) = place.map_or((Type::U32, None), |(element, index)| (element, Some(index)));
    Parts { shape, element, index, values }
}

/// Whether a request of a thread with deferred values may be the given one of a thread with words.
fn agree(word: &Request, deferred: &Request<Deferred>) -> bool {
    let (word, deferred) = (parts(word.clone()), parts(deferred.clone()));
    let element = word.element;
    if let (Some(None), Request::Fault(_)) = (deferred.index, &word.shape) {
        return true;
    }
    let index = match deferred.index {
        Some(Some(index)) => word.index == Some(index),
        Some(None) => word.index.is_some(),
        None => word.index.is_none(),
    };
    let value = |(&word, deferred): (&u64, &Deferred)| deferred.known().is_none_or(|raw| same(element, word, raw));
    word.shape == deferred.shape
        && index
        && word.values.len() == deferred.values.len()
        && word.values.iter().zip(&deferred.values).all(value)
}

/// A launch of a random kernel: its program, and the results of its loads.
struct Launch {
    program: Program,
    environment: Environment,
    seed: u64,
}

impl Launch {
    fn new(entropy: Vec<u32>, scalars: [u64; TYPES.len()], seed: u64) -> Launch {
        let program = Program::compile(Arc::new(Generator::new(entropy, true).kernel())).unwrap();
        Launch { program, environment: environment(scalars), seed }
    }

    fn thread<V: Value>(&self) -> Thread<V> {
        Thread::start(&self.program, self.environment.shape.position(13, 4))
    }

    /// The next request that does not concern the domain.
    fn next<V: Value>(&self, thread: &mut Thread<V>) -> Request<V> {
        loop {
            match thread.run(&self.program, &self.environment, &mut 100_000) {
                Request::OutOfFuel => panic!("a random kernel ends"),
                Request::LoopHead { .. } => {}
                request => return request,
            }
        }
    }

    /// The answer to the request with this number, if it is a load.
    fn answer<V: Value>(&self, number: usize, request: &Request<V>) -> Vec<u64> {
        let (lanes, element) = match request {
            Request::Load(location) => (1, location.element),
            Request::LoadLanes { location, lanes } => (*lanes, location.element),
            Request::AtomicLoad { location, .. }
            | Request::AtomicUpdate { location, .. }
            | Request::CompareExchange { location, .. } => (1, location.element),
            _ => return Vec::new(),
        };
        // Some numbers are small, since those make good indices and conditions.
        let raw = |lane| {
            let raw = (self.seed ^ (number as u64 * 8 + lane as u64)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            if raw >> 62 == 0 { raw >> 32 } else { raw >> 32 & 3 }
        };
        (0..lanes).map(|lane| valid(element, raw(lane))).collect()
    }

    /// All requests of a thread with words.
    fn words(&self) -> Vec<Request> {
        let (mut thread, mut requests) = (self.thread::<u64>(), Vec::new());
        loop {
            let request = self.next(&mut thread);
            thread.answer_lanes(&self.answer(requests.len(), &request));
            requests.push(request);
            if requests.last() == Some(&Request::Done) {
                return requests;
            }
        }
    }
}

/// A load that was left open: its number, and the thread at the request.
struct Open {
    number: usize,
    thread: Thread<Deferred>,
    request: Request<Deferred>,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn with_every_load_answered_the_domains_ask_the_same(
        entropy in prop::collection::vec(any::<u32>(), 16..400),
        scalars in prop::array::uniform13(any::<u64>()),
        seed in any::<u64>(),
    ) {
        let launch = Launch::new(entropy, scalars, seed);
        let mut thread = launch.thread::<Deferred>();
        for (number, word) in launch.words().iter().enumerate() {
            let request = launch.next(&mut thread);
            prop_assert!(agree(word, &request), "{}: {:?}, {:?}", number, word, request);
            let Parts { index, values, .. } = parts(request.clone());
            prop_assert!(index != Some(None) && values.iter().all(|value| value.known().is_some()));
            prop_assert!(!thread.any_pending());
            let answer: Vec<Deferred> = launch.answer(number, &request).into_iter().map(Deferred::Known).collect();
            thread.answer_lanes(&answer);
        }
    }

    /// Runs a thread as a model checker does: some loads are left open; where a value is needed, the first of them is
    /// closed and the thread runs again from there.
    #[test]
    fn a_thread_that_runs_past_its_loads_asks_what_it_asks_with_their_values(
        entropy in prop::collection::vec(any::<u32>(), 16..400),
        scalars in prop::array::uniform13(any::<u64>()),
        seed in any::<u64>(),
        choices in prop::collection::vec(any::<bool>(), 1..64),
    ) {
        let launch = Launch::new(entropy, scalars, seed);
        let words = launch.words();
        let (mut thread, mut number) = (launch.thread::<Deferred>(), 0);
        let (mut opened, mut open) = (0, Vec::<Open>::new());
        loop {
            let request = launch.next(&mut thread);
            let word = &words[number];
            let blocked = request == Request::NeedsValue;
            prop_assert!(blocked || agree(word, &request), "{}: {:?}, {:?}", number, word, request);
            let unknown_fault = matches!(word, Request::Fault(_)) && !matches!(request, Request::Fault(_));
            if blocked || unknown_fault || request == Request::Done {
                if blocked {
                    // The thread stays there, and only an open load can be the reason.
                    let mut again = thread.clone();
                    prop_assert_eq!(launch.next(&mut again), Request::NeedsValue);
                    prop_assert_eq!(&again, &thread);
                    prop_assert!(thread.any_pending() && !open.is_empty());
                }
                if open.is_empty() {
                    break;
                }
                let first = open.swap_remove(0);
                open.clear();
                (thread, number) = (first.thread, first.number);
                let answer = launch.answer(number, &first.request).into_iter().map(Deferred::Known);
                thread.answer_lanes(&answer.collect::<Vec<_>>());
                number += 1;
                continue;
            }
            let mut answer: Vec<Deferred> =
                launch.answer(number, &request).into_iter().map(Deferred::Known).collect();
            // Each open load may be run again, so only a part of many loads is opened.
            if !answer.is_empty() && opened < 200 && choices[opened % choices.len()] {
                open.push(Open { number, thread: thread.clone(), request });
                answer.fill(Deferred::Pending);
            }
            opened += usize::from(!answer.is_empty());
            thread.answer_lanes(&answer);
            number += 1;
        }
        prop_assert_eq!(number + 1, words.len());
    }
}

//! Mutants: a program with one fence removed, or one order or scope weakened (after MC Mutants, Levine et al., ASPLOS
//! 2023). The outcomes that a mutant has and the program has not are what a test environment must be able to show.

use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

use crate::program::{Op, OrderMut, Program};

/// A program that differs in one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The difference in words.
    pub change: String,
    /// The program with the change.
    pub program: Program,
}

/// All mutants of a program, each made when it is asked for.
pub fn mutants(program: &Program) -> impl Iterator<Item = Mutant> + '_ {
    let ops = program
        .threads
        .iter()
        .enumerate()
        .flat_map(|(thread, it)| it.code.iter().enumerate().map(move |(at, (op, _))| (thread, at, op)));
    ops.flat_map(move |(thread, at, op)| {
        weaker(op).into_iter().map(move |weaker| {
            let mut changed = program.clone();
            let was = program.op_text(thread, op);
            let is = match weaker {
                Some(weaker) => {
                    changed.threads[thread].code[at].0 = weaker;
                    program.op_text(thread, &weaker)
                }
                None => {
                    remove(&mut changed.threads[thread].code, at);
                    "nothing".to_owned()
                }
            };
            Mutant { change: format!("P{thread}: {is} for {was}"), program: changed }
        })
    })
}

/// Removes an operation; jumps go to what they went to.
fn remove(code: &mut Vec<(Op, u32)>, at: usize) {
    code.remove(at);
    for target in code.iter_mut().filter_map(|(op, _)| op.target_mut()).filter(|target| **target > at) {
        *target -= 1;
    }
}

/// The next weaker forms of an operation; `None` for its absence.
fn weaker(op: &Op) -> Vec<Option<Op>> {
    let of_number = |number| {
        let mut weaker = *op;
        let (order, _) = weaker.synchronization()?;
        weaken(order, number).then_some(weaker)
    };
    let mut all: Vec<_> = (0..).map_while(of_number).map(Some).collect();
    if let Op::Fence { .. } = op {
        all.push(None);
    }
    if let Some(Scope::Device | Scope::System) = op.scope() {
        all.push(Some(op.with_scope(Scope::Block)));
    }
    all
}

/// Replaces an order by the next weaker one of this number, if there are as many. Each order has at most two, which are
/// not comparable with each other.
fn weaken(order: OrderMut<'_>, number: usize) -> bool {
    fn replace<T: Copy>(order: &mut T, weaker: &[T], number: usize) -> bool {
        weaker.get(number).map(|weaker| *order = *weaker).is_some()
    }
    match order {
        OrderMut::Read(order) => match order {
            ReadOrder::Acquire => replace(order, &[ReadOrder::Relaxed], number),
            ReadOrder::Relaxed => false,
        },
        OrderMut::Write(order) => match order {
            WriteOrder::Release => replace(order, &[WriteOrder::Relaxed], number),
            WriteOrder::Relaxed => false,
        },
        OrderMut::Update(order) => match order {
            UpdateOrder::AcqRel => replace(order, &[UpdateOrder::Acquire, UpdateOrder::Release], number),
            UpdateOrder::Acquire | UpdateOrder::Release => replace(order, &[UpdateOrder::Relaxed], number),
            UpdateOrder::Relaxed => false,
        },
        OrderMut::Fence(order) => match order {
            FenceOrder::SeqCst => replace(order, &[FenceOrder::AcqRel], number),
            FenceOrder::AcqRel => replace(order, &[FenceOrder::Acquire, FenceOrder::Release], number),
            FenceOrder::Acquire | FenceOrder::Release => false,
        },
    }
}

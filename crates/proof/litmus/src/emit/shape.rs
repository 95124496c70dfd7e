//! Turns a graph of instructions into lines of code: equal parts are written once, and only loops jump back.

use std::collections::HashMap;

use super::trace::Node;
use crate::condition::Comparison;
use crate::ids::{LabelId, RegisterId};
use crate::program::{Instruction, JumpTarget, Operand};

/// Writes a graph as code with labels.
pub(super) fn write(nodes: Vec<Node>, start: usize) -> (Vec<Instruction>, Vec<JumpTarget>) {
    let nodes: Vec<Node> = nodes.iter().map(|node| without_gotos(&nodes, node)).collect();
    let start = follow(&nodes, start);
    let class = classes(&nodes);
    // A class is written like its first member.
    let mut first = vec![usize::MAX; nodes.len()];
    for (node, &class) in class.iter().enumerate().rev() {
        first[class] = node;
    }
    let of = |node: usize| first[class[node]];
    let nodes: Vec<Node> = nodes
        .iter()
        .map(|node| match node {
            Node::Do(instruction, next) => Node::Do(instruction.clone(), of(*next)),
            Node::Branch(register, ways) => {
                Node::Branch(*register, ways.iter().map(|&(value, to)| (value, of(to))).collect())
            }
            other => other.clone(),
        })
        .collect();
    let order = order(&nodes, of(start));
    Writer { nodes: &nodes, order: &order, code: Vec::new(), jumps: Vec::new() }.write()
}

/// The node at which the code continues after skipping jumps.
fn follow(nodes: &[Node], mut at: usize) -> usize {
    // A loop without any action stays where it is.
    for _ in 0..nodes.len() {
        match nodes[at] {
            Node::Goto(to) => at = to,
            _ => break,
        }
    }
    at
}

fn without_gotos(nodes: &[Node], node: &Node) -> Node {
    match node {
        Node::Do(instruction, next) => Node::Do(instruction.clone(), follow(nodes, *next)),
        Node::Branch(register, ways) => {
            Node::Branch(*register, ways.iter().map(|&(value, to)| (value, follow(nodes, to))).collect())
        }
        other => other.clone(),
    }
}

/// The number of each node's class: nodes of one class do the same, and so do their successors.
fn classes(nodes: &[Node]) -> Vec<usize> {
    /// The action of a node by itself; a place without an instruction has none.
    fn own(node: &Node) -> (u8, Option<&Instruction>, Vec<u64>) {
        match node {
            Node::Do(instruction, _) => (0, Some(instruction), Vec::new()),
            Node::Branch(register, ways) => {
                let values = ways.iter().map(|(value, _)| *value);
                (1, None, [*register as u64].into_iter().chain(values).collect())
            }
            Node::End => (2, None, Vec::new()),
            Node::Goto(_) => (3, None, Vec::new()),
            Node::Open => (4, None, Vec::new()),
        }
    }
    let mut class: Vec<usize> = number(nodes.iter().map(own));
    loop {
        let count = class.iter().max();
        let next = number(nodes.iter().zip(&class).map(|(node, &here)| {
            let after: Vec<usize> = followers(node).iter().map(|&to| class[to]).collect();
            (here, after)
        }));
        if next.iter().max() == count {
            return class;
        }
        class = next;
    }
}

/// Gives each item a number in the order of first appearance; equal items have equal numbers.
fn number<T: Eq + std::hash::Hash>(things: impl Iterator<Item = T>) -> Vec<usize> {
    let mut known = HashMap::new();
    things
        .map(|thing| {
            let new = known.len();
            *known.entry(thing).or_insert(new)
        })
        .collect()
}

fn followers(node: &Node) -> Vec<usize> {
    match node {
        Node::Do(_, next) | Node::Goto(next) => vec![*next],
        Node::Branch(_, ways) => ways.iter().map(|(_, to)| *to).collect(),
        Node::Open | Node::End => Vec::new(),
    }
}

/// The reachable nodes, each before its successors except in loops.
fn order(nodes: &[Node], start: usize) -> Vec<usize> {
    let (mut order, mut seen) = (Vec::new(), vec![false; nodes.len()]);
    let mut open = vec![(start, followers(&nodes[start]))];
    seen[start] = true;
    while let Some((node, left)) = open.last_mut() {
        match left.pop() {
            Some(next) if !seen[next] => {
                seen[next] = true;
                open.push((next, followers(&nodes[next])));
            }
            Some(_) => {}
            None => {
                order.push(*node);
                open.pop();
            }
        }
    }
    order.reverse();
    // The end node is the end of the code, so it needs no jump.
    let (end, others): (Vec<usize>, Vec<usize>) = order.into_iter().partition(|&it| matches!(nodes[it], Node::End));
    others.into_iter().chain(end).collect()
}

struct Writer<'n> {
    nodes: &'n [Node],
    order: &'n [usize],
    code: Vec<Instruction>,
    /// The jump targets: labels have the number of their node until all of them are known.
    jumps: Vec<usize>,
}

impl Writer<'_> {
    fn write(mut self) -> (Vec<Instruction>, Vec<JumpTarget>) {
        let mut begins: HashMap<usize, usize> = HashMap::new();
        for (at, &node) in self.order.iter().enumerate() {
            begins.insert(node, self.code.len());
            let next = self.order.get(at + 1).copied();
            match &self.nodes[node] {
                Node::Do(instruction, to) => {
                    self.code.push(instruction.clone());
                    self.go(*to, next);
                }
                Node::Branch(register, ways) => self.branch(*register, ways, next),
                Node::Goto(to) => self.go(*to, None),
                Node::End | Node::Open => {}
            }
        }
        let mut targets: Vec<usize> = self.jumps.iter().filter_map(|node| begins.get(node).copied()).collect();
        targets.sort_unstable();
        targets.dedup();
        for instruction in &mut self.code {
            if let Some(to) = instruction.jump_mut() {
                let at = begins.get(to).copied().unwrap_or_default();
                *to = targets.iter().position(|&target| target == at).unwrap_or_default();
            }
        }
        let label = |(number, at): (usize, usize)| JumpTarget { name: format!("LC{number:02}"), at };
        (self.code, targets.into_iter().enumerate().map(label).collect())
    }

    /// Continues at a node, without a jump if it stands next.
    fn go(&mut self, to: usize, next: Option<usize>) {
        if Some(to) != next {
            self.jumps.push(to);
            self.code.push(Instruction::Goto(to));
        }
    }

    fn jump(&mut self, comparison: Comparison, register: RegisterId, value: u64, to: LabelId) {
        self.jumps.push(to);
        let (left, right) = (Operand::Register(register), Operand::Constant(value));
        self.code.push(Instruction::Branch { comparison, left, right, to });
    }

    fn branch(&mut self, register: RegisterId, ways: &[(u64, usize)], next: Option<usize>) {
        let Some(&(value, first)) = ways.first() else { return };
        let count = |to: usize| ways.iter().filter(|(_, way)| *way == to).count();
        let alone = ways.iter().find(|(_, to)| count(*to) == 1);
        // Control depends on the value read, though all branches are equal.
        if count(first) == ways.len() {
            self.jump(Comparison::Equal, register, value, first);
            return self.go(first, next);
        }
        // One value is tested against all others.
        if let (Some(&(value, to)), Some(&(_, other))) = (alone, ways.iter().find(|way| Some(*way) != alone))
            && Some(to) == next
            && count(other) + 1 == ways.len()
        {
            return self.jump(Comparison::NotEqual, register, value, other);
        }
        let otherwise = next.filter(|&next| count(next) > 0);
        let otherwise = otherwise.or(ways.iter().map(|(_, to)| *to).max_by_key(|to| count(*to))).unwrap_or(first);
        for &(value, to) in ways.iter().filter(|(_, to)| *to != otherwise) {
            self.jump(Comparison::Equal, register, value, to);
        }
        self.go(otherwise, next);
    }
}

//! Printing: a launch's log, and a kernel that prints as one that writes records into it.
//!
//! The log is a view behind the kernel's own parameters, of [`HEADER`] words and the records. A thread that prints
//! takes as many words as its record has, by one atomic addition, and writes them; if they are beyond the end, it
//! counts the line as lost. What a thread prints so stands in its own order. All accesses are relaxed atomics, which
//! order nothing.
//!
//! A record is the line's number among the kernel's lines plus 1, the block's number and the thread's in its block,
//! both row-major, and the words of the values ([`crate::message::words`]).

use wattle_memory::{ReadOrder, Scope, UpdateOrder, WriteOrder};

use crate::message::{Message, Text, Words, words};
use crate::visit::walk;
use crate::{
    Access, AtomicOp, BinaryOp, Builtin, Const, Expr, ExprId, Kernel, Param, ParamId, ParamKind, Place, Site, Slot,
    SlotId, Stmt, Type,
};

/// The word of the log that says how many words of records have been asked for.
const TAKEN: u32 = 0;
/// The two words that count the lines that were lost, the low one first.
const LOST: u32 = 1;
/// The number of words before the records of a log.
pub const HEADER: u32 = 4;
/// The number of words of a record before its values.
pub const RECORD: u32 = 3;
/// The name of the parameter that is the log.
pub const LOG: &str = "log";

/// A line that a kernel prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The text.
    pub text: Text,
    /// The types of the values in it.
    pub types: Vec<Type>,
    /// The source line that prints it.
    pub site: Site,
}

impl Line {
    /// The number of words of a record of the line.
    pub fn record_words(&self) -> u32 {
        RECORD + self.types.iter().map(|&ty| words(ty) as u32).sum::<u32>()
    }
}

/// A line as a launch has printed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The row-major number of the thread's block.
    pub block: u32,
    /// The row-major number of the thread in its block.
    pub thread: u32,
    /// The number of the line among the kernel's.
    pub line: usize,
    /// The text with its values.
    pub text: String,
}

/// What a log holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The lines, by thread and in each thread's order.
    pub lines: Vec<Printed>,
    /// The number of lines that were lost because the log was full.
    pub lost: u64,
}

/// Whether the kernel prints.
pub fn prints(kernel: &Kernel) -> bool {
    let mut prints = false;
    walk(&kernel.body, &mut |stmt| prints |= matches!(stmt, Stmt::Print { .. }));
    prints
}

/// The number of words of a log with this header that are used.
pub fn used(header: &[u32], len: usize) -> usize {
    let taken = header.get(TAKEN as usize).map_or(0, |&taken| taken as usize);
    (HEADER as usize + taken).min(len)
}

/// Reads a log, whose words are given to their end or as far as they are [`used`].
pub fn read(log: &[u32], lines: &[Line]) -> Log {
    let mut printed = Vec::new();
    let mut rest = log.get(HEADER as usize..).unwrap_or(&[]);
    // Words of zero are those of a record that did not fit, or of none.
    while let Some(&[number, block, thread]) = rest.first_chunk() {
        let Some(line) = (number as usize).checked_sub(1).and_then(|number| lines.get(number)) else { break };
        let Some((record, behind)) = rest.split_at_checked(line.record_words() as usize) else { break };
        rest = behind;
        let values = Words { types: &line.types, words: &record[RECORD as usize..] };
        let text = line.text.with(|number| values.value(number));
        printed.push(Printed { block, thread, line: number as usize - 1, text });
    }
    printed.sort_by_key(|line| (line.block, line.thread));
    let word = |at: u32| u64::from(log.get(at as usize).copied().unwrap_or(0));
    Log { lines: printed, lost: word(LOST) | word(LOST + 1) << 32 }
}

/// The kernel with its log as one more parameter, and the lines that it prints; `None` if it prints nothing.
pub fn with_log(kernel: &Kernel) -> Option<(Kernel, Vec<Line>)> {
    if !prints(kernel) {
        return None;
    }
    let mut kernel = kernel.clone();
    let log = Place::Param(ParamId(kernel.params.len() as u32));
    let kind = ParamKind::View { access: Access::Atomic, element: Type::U32, rank: 1 };
    kernel.params.push(Param { name: LOG, kind, field: None });
    let body = std::mem::take(&mut kernel.body);
    let mut types = Vec::with_capacity(kernel.exprs.len());
    for expr in &kernel.exprs {
        // The kernel is verified.
        types.push(kernel.type_of(expr, &types).unwrap_or(Type::U32));
    }
    let mut writer = Writer { kernel, types, log, lines: Vec::new() };
    writer.kernel.body = writer.block(body);
    Some((writer.kernel, writer.lines))
}

/// A value as the 32-bit words that a device keeps of it, each added by `add`.
pub(crate) fn word_exprs(ty: Type, x: ExprId, add: &mut dyn FnMut(Expr) -> ExprId) -> Vec<ExprId> {
    let x = if ty.is_float() { add(Expr::Bits(ty.bits_type(), x)) } else { x };
    let as_word = |add: &mut dyn FnMut(Expr) -> ExprId, x| add(Expr::Cast(Type::U32, x));
    if words(ty) == 2 {
        let x = if ty.is_signed() && !ty.is_float() { add(Expr::Bits(ty.bits_type(), x)) } else { x };
        let width = add(Expr::Const(Const::of(32u32)));
        let high = add(Expr::Binary(BinaryOp::Shr, x, width));
        return vec![as_word(add, x), as_word(add, high)];
    }
    if ty == Type::U32 || ty == Type::F32 { vec![x] } else { vec![as_word(add, x)] }
}

struct Writer {
    kernel: Kernel,
    /// The types of the kernel's own expressions.
    types: Vec<Type>,
    log: Place,
    lines: Vec<Line>,
}

impl Writer {
    fn block(&mut self, block: Vec<Stmt>) -> Vec<Stmt> {
        let mut made = Vec::with_capacity(block.len());
        for mut stmt in block {
            for inner in stmt.blocks_mut() {
                *inner = self.block(std::mem::take(inner));
            }
            match stmt {
                Stmt::Print { message, site } => self.record(message, site, &mut made),
                other => made.push(other),
            }
        }
        made
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        self.kernel.exprs.push(expr);
        ExprId(self.kernel.exprs.len() as u32 - 1)
    }

    fn word(&mut self, value: u32) -> ExprId {
        self.add(Expr::Const(Const::of(value)))
    }

    fn binary(&mut self, op: BinaryOp, x: ExprId, y: ExprId) -> ExprId {
        self.add(Expr::Binary(op, x, y))
    }

    fn slot(&mut self) -> SlotId {
        self.kernel.slots.push(Slot { ty: Type::U32, name: None });
        SlotId(self.kernel.slots.len() as u32 - 1)
    }

    /// The row-major number of an index in an extent.
    fn number(&mut self, index: Builtin, extent: Builtin) -> ExprId {
        let mut number = self.add(Expr::Builtin(index, 0));
        for d in 1..self.kernel.rank as u8 {
            let (extent, index) = (self.add(Expr::Builtin(extent, d)), self.add(Expr::Builtin(index, d)));
            number = self.binary(BinaryOp::Mul, number, extent);
            number = self.binary(BinaryOp::Add, number, index);
        }
        number
    }

    fn update(&mut self, at: u32, more: u32, site: Site) -> (Stmt, ExprId) {
        let (dst, at, operand) = (self.slot(), self.word(at), self.word(more));
        let old = self.add(Expr::Slot(dst));
        let (order, scope) = (UpdateOrder::Relaxed, Scope::Device);
        let (op, index, place) = (AtomicOp::Add, vec![at], self.log);
        (Stmt::AtomicUpdate { dst, op, place, index, operand, order, scope, site }, old)
    }

    fn record(&mut self, Message { text, arguments }: Message, site: Site, made: &mut Vec<Stmt>) {
        let types: Vec<_> = arguments.iter().map(|&value| self.types[value.index()]).collect();
        let line = Line { text, types, site };
        let size = line.record_words();
        let number = self.word(self.lines.len() as u32 + 1);
        let block = self.number(Builtin::BlockInGrid, Builtin::GridExtent);
        let thread = self.number(Builtin::ThreadInBlock, Builtin::BlockExtent);
        let mut record = vec![number, block, thread];
        for (&value, &ty) in arguments.iter().zip(&line.types) {
            record.extend(word_exprs(ty, value, &mut |expr| self.add(expr)));
        }
        self.lines.push(line);

        let (place, scope) = (self.log, Scope::Device);
        let mut extent = self.add(Expr::Extent(place, 0));
        if self.kernel.wide {
            extent = self.add(Expr::Cast(Type::U32, extent));
        }
        let size_word = self.word(HEADER + size);
        // The log has room for the greatest record at least, so this does not wrap.
        let last = self.binary(BinaryOp::Sub, extent, size_word);

        // A full log is not asked again, so that the count of words that were asked for does not wrap.
        let (seen, at) = (self.slot(), self.slot());
        let taken = self.word(TAKEN);
        let order = ReadOrder::Relaxed;
        made.push(Stmt::AtomicLoad { dst: seen, place, index: vec![taken], order, scope, site });
        let seen = self.add(Expr::Slot(seen));
        let none = self.word(u32::MAX);
        made.push(Stmt::Assign { slot: at, value: none });
        let (take, begin) = self.update(TAKEN, size, site);
        let take = vec![take, Stmt::Assign { slot: at, value: begin }];
        let condition = self.binary(BinaryOp::Le, seen, last);
        made.push(Stmt::If { condition, then: take, otherwise: vec![] });

        let at = self.add(Expr::Slot(at));
        let mut write = Vec::new();
        for (number, value) in (HEADER..).zip(record) {
            let offset = self.word(number);
            let index = vec![self.binary(BinaryOp::Add, at, offset)];
            write.push(Stmt::AtomicStore { place, index, value, order: WriteOrder::Relaxed, scope, site });
        }
        let (lose, before) = self.update(LOST, 1, site);
        let (carry, _) = self.update(LOST + 1, 1, site);
        let wraps = self.binary(BinaryOp::Eq, before, none);
        let carry = Stmt::If { condition: wraps, then: vec![carry], otherwise: vec![] };
        let condition = self.binary(BinaryOp::Le, at, last);
        made.push(Stmt::If { condition, then: write, otherwise: vec![lose, carry] });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Piece, Spec};

    fn line(types: &[Type]) -> Line {
        let pieces: Vec<_> = (0..types.len()).map(|number| Piece::Value(number, Spec::PLAIN)).collect();
        Line { text: Text(pieces.into()), types: types.to_vec(), site: Site::caller() }
    }

    #[test]
    fn records_are_read_by_thread() {
        let lines = [line(&[Type::U64]), line(&[Type::Bool, Type::I8])];
        assert_eq!(lines.each_ref().map(Line::record_words), [5, 5]);
        let header = [10, 3, 1, 0];
        let records = [2, 1, 0, 1, 0xff, 1, 0, 7, 1, 1];
        let log = read(&[&header[..], &records].concat(), &lines);
        let texts: Vec<_> = log.lines.iter().map(|line| (line.block, line.thread, line.text.as_str())).collect();
        assert_eq!(texts, [(0, 7, "4294967297"), (1, 0, "true-1")]);
        assert_eq!(log.lost, (1 << 32) + 3);
    }

    #[test]
    fn what_is_no_record_ends_the_log() {
        let lines = [line(&[])];
        for rest in [&[][..], &[0, 5, 5], &[9, 0, 0], &[1, 0]] {
            assert_eq!(read(&[&[99, 0, 0, 0, 1, 0, 0][..], rest].concat(), &lines).lines.len(), 1, "{rest:?}");
        }
        assert_eq!((read(&[], &lines), used(&[], 100), used(&[7], 9), used(&[7], 100)), (Log::default(), 4, 9, 11));
    }
}

//! Functions, blocks, branches and barriers.

use std::collections::HashSet;

use rspirv::spirv::{MemoryModel, NonsemanticShaderDebuginfo100Op as Debug, Op as Opcode};
use wattle_memory::{Kind, Label, Level};

use super::{Lowering, Pointer, Value};
use crate::code::{Guard, NO_REG, Op, Ordering, Reg, Source, Src};
use crate::refused::{MOST_CALLS, Refused};
use crate::spirv::instruction::{Id, Instruction};
use crate::spirv::module::{Block, Entry, Function, OPENCL_DEBUG};
use crate::types::Space;

/// A label of a call.
pub(super) type CallLabel = (u32, Id);

/// A call in whose place a function is put.
struct Frame {
    number: u32,
    /// The registers that get the function's result; `None` for the entry point.
    result: Option<Vec<Reg>>,
}

/// The label behind a call: no result has this number.
const BEHIND: Id = 0;

impl Lowering<'_> {
    /// Lowers the entry point's function.
    pub(super) fn entry(&mut self, entry: &Entry) -> Result<(), Refused> {
        let module = self.module;
        if let Some(function) = module.functions.get(&entry.function) {
            self.parameters(entry, function)?;
        }
        self.function(entry.function, None)?;
        // A function whose last block does not return is refused, so nothing comes here.
        self.emit(Op::Exit)
    }

    fn function(&mut self, id: Id, result: Option<Vec<Reg>>) -> Result<(), Refused> {
        let module = self.module;
        let unknown = || Refused::new(self.line, format!("there is no function `%{}`", module.name(id)));
        let function = module.functions.get(&id).ok_or_else(unknown)?;
        let at = module.instruction(function.at);
        if self.calls.contains(&id) {
            return Err(at.refused("the function calls itself, which SPIR-V does not permit to entry points"));
        }
        if self.calls.len() == MOST_CALLS {
            return Err(at.refused(format!("more than {MOST_CALLS} functions are called by one another")));
        }
        let first = function.blocks.first().ok_or_else(|| at.refused("the function has no body"))?;
        self.calls.push(id);
        self.frame += 1;
        self.source = None;
        let frame = Frame { number: self.frame, result };
        let blocks = self.ordered_blocks(function, first)?;
        for block in &blocks {
            self.phis(block)?;
        }
        for block in blocks {
            self.block(block, &frame)?;
        }
        self.targets.insert((frame.number, BEHIND), self.steps.len() as u32);
        self.calls.pop();
        Ok(())
    }

    /// The blocks that control can come to, each behind those that dominate it. This is the order of the text (SPIR-V
    /// specification, 2.16.1), but llvm-spirv keeps LLVM's, so a kernel's blocks are in reverse postorder.
    fn ordered_blocks<'f>(&self, function: &'f Function, first: &'f Block) -> Result<Vec<&'f Block>, Refused> {
        let place = |label: Id| function.number_of(label);
        let (mut reached, mut open, mut done) = (HashSet::new(), vec![(first.label, false)], Vec::new());
        while let Some((label, is_done)) = open.pop() {
            let Some(number) = place(label) else { continue };
            if is_done {
                done.push(number);
            } else if reached.insert(label) {
                let block = &function.blocks[number];
                let last = self.last(block).ok_or_else(|| Refused::new(self.line, "a block without an end"))?;
                open.push((label, true));
                // What is last in the text is looked at first, and so comes last.
                let mut next: Vec<Id> = targets(last).into_iter().collect();
                next.sort_by_key(|&label| place(label));
                open.extend(next.into_iter().map(|label| (label, false)));
            }
        }
        if self.module.model == MemoryModel::OpenCL {
            done.reverse();
        } else {
            done.sort_unstable();
        }
        Ok(done.into_iter().map(|number| &function.blocks[number]).collect())
    }

    /// The last instruction of a block; Slang writes debug information behind it.
    fn last(&self, block: &Block) -> Option<&Instruction> {
        let mut body = block.body.clone().map(|number| self.module.instruction(number));
        body.rfind(|last| !matches!(last.op, Opcode::Line | Opcode::NoLine) && !self.module.is_debug(last))
    }

    /// Gives the phis of a block their registers.
    fn phis(&mut self, block: &Block) -> Result<(), Refused> {
        for number in block.body.clone() {
            let instruction = self.module.instruction(number);
            if instruction.op == Opcode::Phi {
                let ty = instruction.ty()?;
                let leaves = self.types.leaves(ty);
                let leaves = leaves.ok_or_else(|| instruction.refused("its type has no values"))?;
                let name = self.module.name(instruction.id()?);
                let parts = leaves.iter().map(|_| Src::reg(self.register(&name))).collect();
                self.set_parts(instruction, parts)?;
            }
        }
        Ok(())
    }

    fn block(&mut self, block: &Block, frame: &Frame) -> Result<(), Refused> {
        self.targets.insert((frame.number, block.label), self.steps.len() as u32);
        // A line is for the rest of its block (SPIR-V specification, `OpLine`), but glslang writes none behind a `?:`,
        // where a statement goes on: there the line before it in the text is the one to look at. LLVM's blocks have
        // their own.
        if self.module.model == MemoryModel::OpenCL {
            self.source = None;
        }
        for number in block.body.clone() {
            let instruction = self.module.instruction(number);
            self.line = instruction.line;
            match instruction.op {
                Opcode::Line => self.source = self.source_of(instruction),
                Opcode::NoLine => self.source = None,
                Opcode::Phi | Opcode::SelectionMerge | Opcode::Nop | Opcode::LifetimeStart | Opcode::LifetimeStop => {}
                Opcode::LoopMerge => {
                    let behind = instruction.operand(0)?;
                    self.loops.push(((frame.number, block.label), (frame.number, behind)));
                }
                // They have been declared.
                Opcode::Constant
                | Opcode::ConstantTrue
                | Opcode::ConstantFalse
                | Opcode::ConstantComposite
                | Opcode::ConstantNull => {}
                Opcode::Branch => {
                    let to = instruction.operand(0)?;
                    self.edge(block.label, to, frame)?;
                }
                Opcode::BranchConditional => self.conditional(instruction, block.label, frame)?,
                Opcode::Switch => self.switch(instruction, block.label, frame)?,
                Opcode::Return | Opcode::ReturnValue => self.give_back(instruction, frame)?,
                Opcode::Kill | Opcode::TerminateInvocation => self.emit(Op::Exit)?,
                Opcode::Unreachable => self.emit(Op::Trap("`OpUnreachable` is reached"))?,
                Opcode::FunctionCall => self.call(instruction)?,
                Opcode::MemoryBarrier => {
                    let (level, semantics) =
                        self.fenced(instruction.operand(0)?, instruction.operand(1)?, instruction)?;
                    if semantics.order() {
                        self.ordering(Ordering::Fence(semantics.fence(level, true, true)))?;
                    }
                }
                Opcode::ControlBarrier => self.barrier(instruction)?,
                Opcode::ExtInst if self.debug_line(instruction)? => {}
                _ => {
                    let is_known =
                        self.memory(instruction)? || self.compute(instruction)? || self.group(instruction)?;
                    if !is_known {
                        return Err(self.not_supported(instruction));
                    }
                }
            }
        }
        match self.last(block) {
            Some(last) if ends(last) => Ok(()),
            _ => Err(Refused::new(self.line, "the block does not end with a branch or a return")),
        }
    }

    /// The place in the source that a line names: file, line, column.
    fn source_of(&self, instruction: &Instruction) -> Option<Source> {
        // Compilers of OpenCL write line 0 for what stands in no line.
        let &[file, line, column] = instruction.operands.as_slice() else { return None };
        if line == 0 {
            return None;
        }
        let file = self.module.strings.get(&file)?;
        Some(Source { file: file.as_str().into(), line, column, inlined_at: None })
    }

    /// A line of the debug information's own instructions; `false` for another instruction.
    fn debug_line(&mut self, instruction: &Instruction) -> Result<bool, Refused> {
        if !self.module.is_debug(instruction) {
            return Ok(false);
        }
        // OpenCL's debug information has no such line: its lines are `OpLine`.
        let is_opencl = self.module.sets.get(&instruction.operand(0)?).is_some_and(|set| set == OPENCL_DEBUG);
        if !is_opencl && instruction.operand(1)? == Debug::DebugLine as u32 {
            let (source, line) = (instruction.operand(2)?, instruction.operand(3)?);
            let column = instruction.operands.get(5).copied();
            let number = |id: Option<Id>| id.and_then(|id| self.known_scalar(id, instruction).ok()).unwrap_or(0) as u32;
            let mut all = self.module.global.iter().map(|&number| self.module.instruction(number));
            let file = all.find(|known| known.result == Some(source)).and_then(|known| known.operand(2).ok());
            let file = file.and_then(|file| self.module.strings.get(&file));
            let (line, column) = (number(Some(line)), number(column));
            self.source = file.map(|file| Source { file: file.as_str().into(), line, column, inlined_at: None });
        }
        Ok(true)
    }

    /// Adds a step that jumps to a label, which may not have its place yet.
    fn jump(&mut self, guard: Guard, to: CallLabel) -> Result<(), Refused> {
        self.jumps.push((self.steps.len(), to));
        self.emit_if(guard, Op::Branch { target: 0 })
    }

    /// The moves on an edge, and the jump.
    fn edge(&mut self, from: Id, to: Id, frame: &Frame) -> Result<(), Refused> {
        self.moves(from, to)?;
        self.jump(Guard { reg: NO_REG, negated: false }, (frame.number, to))
    }

    /// A block of the function that is being lowered.
    fn block_of(&self, label: Id) -> Option<&Block> {
        self.module.functions.get(self.calls.last()?)?.block(label)
    }

    /// Whether an edge has moves.
    fn has_moves(&self, to: Id) -> bool {
        self.block_of(to)
            .is_some_and(|block| block.body.clone().any(|number| self.module.instruction(number).op == Opcode::Phi))
    }

    /// The values of the phis behind an edge, all at once: what one reads, no other has changed.
    fn moves(&mut self, from: Id, to: Id) -> Result<(), Refused> {
        let module = self.module;
        let Some(block) = self.block_of(to).cloned() else {
            return Err(Refused::new(self.line, format!("there is no label `%{}`", module.name(to))));
        };
        let mut all: Vec<(Reg, Src)> = Vec::new();
        for number in block.body.clone() {
            let phi = module.instruction(number);
            if phi.op != Opcode::Phi {
                continue;
            }
            let source = phi.operands.chunks_exact(2).find(|pair| pair[1] == from);
            let source = source.ok_or_else(|| phi.refused("the phi has no value for a block that leads here"))?[0];
            if let (Value::Pointer(to), Value::Pointer(from)) = (self.value(phi.id()?, phi)?, self.value(source, phi)?)
                && to.space != Space::Generic
                && to.space != from.space
            {
                return Err(phi.refused("the pointers of a phi are to different storage classes"));
            }
            let (to, from) = (self.parts(phi.id()?, phi)?, self.parts(source, phi)?);
            all.extend(to.iter().zip(from).filter_map(|(to, from)| Some((to.as_reg()?, from))));
        }
        all.retain(|&(to, from)| from != Src::reg(to));
        let is_overwritten = |src: Src| all.iter().any(|&(to, _)| src == Src::reg(to));
        let early: Vec<bool> = all.iter().map(|&(_, from)| is_overwritten(from)).collect();
        for (early, (_, from)) in early.into_iter().zip(&mut all) {
            if early {
                let d = self.register("");
                self.emit(Op::Mov { d, a: *from })?;
                *from = Src::reg(d);
            }
        }
        all.into_iter().try_for_each(|(d, a)| self.emit(Op::Mov { d, a }))
    }

    fn conditional(&mut self, instruction: &Instruction, from: Id, frame: &Frame) -> Result<(), Refused> {
        let condition = self.scalar(instruction.operand(0)?, instruction)?;
        let (yes, no) = (instruction.operand(1)?, instruction.operand(2)?);
        match (self.fixed(condition), condition.as_reg()) {
            (Some(0), _) => self.edge(from, no, frame),
            (_, Some(reg)) => self
                .branch_if(Guard { reg, negated: false }, from, yes, frame, |lowering| lowering.edge(from, no, frame)),
            _ => self.edge(from, yes, frame),
        }
    }

    /// A guarded jump along an edge, then what comes where the guard does not hold; moves of the edge come behind that.
    fn branch_if(
        &mut self,
        guard: Guard,
        from: Id,
        to: Id,
        frame: &Frame,
        otherwise: impl FnOnce(&mut Self) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        if !self.has_moves(to) {
            self.jump(guard, (frame.number, to))?;
            return otherwise(self);
        }
        let at = self.steps.len();
        self.emit_if(guard, Op::Branch { target: 0 })?;
        otherwise(self)?;
        self.steps[at].op = Op::Branch { target: self.steps.len() as u32 };
        self.edge(from, to, frame)
    }

    fn switch(&mut self, instruction: &Instruction, from: Id, frame: &Frame) -> Result<(), Refused> {
        let selector = instruction.operand(0)?;
        let ty = self.scalar_type(selector, instruction)?;
        let (value, words) = (self.scalar(selector, instruction)?, if ty.bits > 32 { 2 } else { 1 });
        let mut cases = Vec::new();
        for case in instruction.rest(2).chunks(words + 1) {
            let (Some(&to), true) = (case.last(), case.len() == words + 1) else {
                return Err(instruction.refused("a case is a number and a label"));
            };
            let literal = case[..words].iter().rev().fold(0, |all, &word| all << 32 | u64::from(word)) & ty.mask();
            cases.push((literal, to));
        }
        let default = instruction.operand(1)?;
        self.cases(value, &cases, default, from, frame)
    }

    fn cases(&mut self, value: Src, cases: &[(u64, Id)], default: Id, from: Id, frame: &Frame) -> Result<(), Refused> {
        let mut late = Vec::new();
        for &(literal, to) in cases {
            if let Some(value) = self.fixed(value) {
                if value == literal {
                    return self.edge(from, to, frame);
                }
                continue;
            }
            let (reg, literal) = (self.register(""), self.constant(literal));
            self.emit(Op::Test { f: |a, b| a == b, orders: false, d: reg, a: value, b: literal })?;
            let guard = Guard { reg, negated: false };
            if self.has_moves(to) {
                late.push((self.steps.len(), to));
                self.emit_if(guard, Op::Branch { target: 0 })?;
            } else {
                self.jump(guard, (frame.number, to))?;
            }
        }
        self.edge(from, default, frame)?;
        for (at, to) in late {
            self.steps[at].op = Op::Branch { target: self.steps.len() as u32 };
            self.edge(from, to, frame)?;
        }
        Ok(())
    }

    fn give_back(&mut self, instruction: &Instruction, frame: &Frame) -> Result<(), Refused> {
        let Some(result) = &frame.result else { return self.emit(Op::Exit) };
        if instruction.op == Opcode::ReturnValue {
            let parts = self.parts(instruction.operand(0)?, instruction)?;
            for (&d, a) in result.iter().zip(parts) {
                self.emit(Op::Mov { d, a })?;
            }
        }
        self.jump(Guard { reg: NO_REG, negated: false }, (frame.number, BEHIND))
    }

    fn call(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let module = self.module;
        let id = instruction.operand(0)?;
        let unknown = || instruction.refused(format!("there is no function `%{}`", module.name(id)));
        let function = module.functions.get(&id).ok_or_else(unknown)?;
        if function.parameters.len() != instruction.rest(1).len() {
            return Err(instruction.refused("the number of arguments is not that of the parameters"));
        }
        let arguments = instruction.rest(1).iter().map(|&argument| self.value(argument, instruction).cloned());
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        for (&(ty, parameter), argument) in function.parameters.iter().zip(arguments) {
            let argument = match argument {
                Value::Pointer(from) if module.is_by_value(parameter) => {
                    self.copied(instruction, from, ty, parameter)?
                }
                argument => argument,
            };
            self.of.insert(parameter, ty);
            self.values.insert(parameter, argument);
        }
        let ty = instruction.ty()?;
        let leaves = self.types.leaves(ty).unwrap_or_default();
        let result: Vec<Reg> = leaves.iter().map(|_| self.register("")).collect();
        let (line, source) = (self.line, self.source.clone());
        self.function(id, Some(result.clone()))?;
        (self.line, self.source) = (line, source);
        let parts: Vec<Src> = result.into_iter().map(Src::reg).collect();
        match self.pointer_type(ty) {
            Some(pointer) if parts.len() == 1 => {
                self.set(instruction, Value::Pointer(Pointer { address: parts[0], ..pointer }))
            }
            _ => self.set(instruction, Value::Parts(parts)),
        }
    }

    /// A parameter that the caller passes by value: a variable of the call's own with what the caller's holds (SPIR-V
    /// 1.6, 3.33 "Function Parameter Attribute", ByVal).
    fn copied(&mut self, call: &Instruction, from: Pointer, ty: Id, parameter: Id) -> Result<Value, Refused> {
        let unknown = || call.refused("an argument that is passed by value is no variable of the thread");
        let to = self.pointer_type(ty).filter(|to| to.space == Space::Local).ok_or_else(unknown)?;
        let bytes = self.types.size(to.to).filter(|&bytes| bytes < 1 << 16).ok_or_else(unknown)?;
        let (address, _) = self.allocate(self.module.name(parameter), bytes, None);
        let to = Pointer { address: self.constant(address), ..to };
        let (read, _) = self.operands(&[], from, call)?;
        let (written, _) = self.operands(&[], to, call)?;
        let parts = self.load_parts(call, from, to.to, read)?;
        self.store_parts(call, to, to.to, &parts, written)?;
        Ok(Value::Pointer(to))
    }

    fn ordering(&mut self, ordering: Ordering) -> Result<(), Refused> {
        self.emit(Op::Ordering(Box::new(ordering)))
    }

    /// A control barrier, which serves as a memory barrier at the same time (SPIR-V specification, OpControlBarrier:
    /// "This allows atomically specifying both"): one event, whose scope is that of its memory. Where that is narrower
    /// than the scope of its execution, it is a release, an arrival and an acquire.
    fn barrier(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let among = self.scope(instruction.operand(0)?, instruction)?;
        let (memory, semantics) = self.fenced(instruction.operand(1)?, instruction.operand(2)?, instruction)?;
        if !matches!(among, Level::Block | Level::Subgroup) {
            return Err(instruction.refused("barriers are supported among the threads of a workgroup or of a subgroup"));
        }
        if memory >= among || !semantics.order() {
            let label = Label { kind: Kind::Barrier, ..semantics.fence(memory.max(among), true, true) };
            return self.ordering(Ordering::Barrier { among, label });
        }
        if semantics.release {
            self.ordering(Ordering::Fence(semantics.fence(memory, false, true)))?;
        }
        self.ordering(Ordering::Barrier { among, label: Label { kind: Kind::Barrier, ..Label::fence(among) } })?;
        if semantics.acquire {
            self.ordering(Ordering::Fence(semantics.fence(memory, true, false)))?;
        }
        Ok(())
    }
}

/// The labels to which a block's last instruction leads.
fn targets(last: &Instruction) -> Vec<Id> {
    match last.op {
        Opcode::Branch => last.rest(0).to_vec(),
        Opcode::BranchConditional => last.rest(1).iter().take(2).copied().collect(),
        // Every operand may be a label: literals that look like one only make more blocks reachable.
        Opcode::Switch => last.rest(1).to_vec(),
        _ => Vec::new(),
    }
}

/// Whether an instruction ends a block.
fn ends(instruction: &Instruction) -> bool {
    matches!(
        instruction.op,
        Opcode::Branch
            | Opcode::BranchConditional
            | Opcode::Switch
            | Opcode::Return
            | Opcode::ReturnValue
            | Opcode::Kill
            | Opcode::TerminateInvocation
            | Opcode::Unreachable
    )
}

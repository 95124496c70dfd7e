//! Words and numbers: the one place that knows rspirv's data representation.
//!
//! Types and constants are made once each. An instruction behind a block's terminator is dropped: it can never run.

use rspirv::binary::Assemble;
use rspirv::dr::{Block, Function, Instruction, Module, ModuleHeader, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl, MemoryModel, Op,
    StorageClass, Word,
};
use rustc_hash::{FxHashMap, FxHashSet};
use wattle_ir::{Type, TypeKind};

use crate::reuse::Made;
use crate::ssa::Ssa;
use crate::tidy::tidy;

/// The components of a type.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Shape {
    Void,
    Bool,
    Int(u32),
    Float(u32),
    Vector(Word, u32),
    Array(Word, Word),
    /// `{ part, part }`: the type of an instruction with two results.
    Pair(Word),
    /// `{ element[] }`, laid out for a storage buffer.
    Buffer(Word),
    Pointer(StorageClass, Word),
    Function(Word, Vec<Word>),
}

/// Puts a module together.
pub struct Assembler {
    module: Module,
    next: Word,
    types: FxHashMap<Shape, Word>,
    /// The types of storage buffers, by the types of their elements.
    buffers: FxHashMap<Word, Word>,
    constants: FxHashMap<(Word, u64), Word>,
    nulls: FxHashMap<Word, Word>,
    files: FxHashMap<&'static str, Word>,
    extended: Option<Word>,
    function: Option<Function>,
    /// Variables of the function, which stand at its beginning.
    variables: Vec<Instruction>,
    block: Option<Block>,
    /// The identifier of the block.
    here: Word,
    /// What is known at this point of the function.
    made: Made,
    ssa: Ssa,
    /// The names of the function's numbers, and the values that have one.
    names: FxHashMap<Word, String>,
    named: FxHashSet<Word>,
    /// The results of the function's instructions.
    results: FxHashSet<Word>,
    /// The results that are never contracted.
    exact: FxHashSet<Word>,
    /// The identifiers that functions have not kept.
    gone: FxHashSet<Word>,
}

impl Assembler {
    pub fn new() -> Assembler {
        Assembler {
            module: Module::new(),
            next: 1,
            types: FxHashMap::default(),
            buffers: FxHashMap::default(),
            constants: FxHashMap::default(),
            nulls: FxHashMap::default(),
            files: FxHashMap::default(),
            extended: None,
            function: None,
            variables: Vec::new(),
            block: None,
            here: 0,
            made: Made::default(),
            ssa: Ssa::default(),
            names: FxHashMap::default(),
            named: FxHashSet::default(),
            results: FxHashSet::default(),
            exact: FxHashSet::default(),
            gone: FxHashSet::default(),
        }
    }

    pub fn id(&mut self) -> Word {
        self.next += 1;
        self.next - 1
    }

    pub fn capability(&mut self, capability: Capability) {
        let instruction = Instruction::new(Op::Capability, None, None, vec![Operand::Capability(capability)]);
        if !self.module.capabilities.contains(&instruction) {
            self.module.capabilities.push(instruction);
        }
    }

    pub fn extension(&mut self, name: &str) {
        let instruction = Instruction::new(Op::Extension, None, None, vec![Operand::LiteralString(name.into())]);
        if !self.module.extensions.contains(&instruction) {
            self.module.extensions.push(instruction);
        }
    }

    // ---- Types

    fn shape(&mut self, shape: Shape) -> Word {
        if let Some(&known) = self.types.get(&shape) {
            return known;
        }
        let id = self.id();
        let (op, operands) = match &shape {
            Shape::Void => (Op::TypeVoid, vec![]),
            Shape::Bool => (Op::TypeBool, vec![]),
            Shape::Int(width) => (Op::TypeInt, vec![Operand::LiteralBit32(*width), Operand::LiteralBit32(0)]),
            Shape::Float(width) => (Op::TypeFloat, vec![Operand::LiteralBit32(*width)]),
            Shape::Pair(part) => (Op::TypeStruct, vec![Operand::IdRef(*part), Operand::IdRef(*part)]),
            Shape::Vector(element, count) => {
                (Op::TypeVector, vec![Operand::IdRef(*element), Operand::LiteralBit32(*count)])
            }
            Shape::Array(element, len) => (Op::TypeArray, vec![Operand::IdRef(*element), Operand::IdRef(*len)]),
            Shape::Buffer(array) => {
                self.member_decorate(id, 0, Decoration::Offset, &[Operand::LiteralBit32(0)]);
                self.decorate(id, Decoration::Block, &[]);
                (Op::TypeStruct, vec![Operand::IdRef(*array)])
            }
            Shape::Pointer(class, to) => (Op::TypePointer, vec![Operand::StorageClass(*class), Operand::IdRef(*to)]),
            Shape::Function(result, parameters) => {
                (Op::TypeFunction, std::iter::once(result).chain(parameters).map(|&id| Operand::IdRef(id)).collect())
            }
        };
        self.global(Instruction::new(op, None, Some(id), operands));
        self.types.insert(shape, id);
        id
    }

    fn global(&mut self, instruction: Instruction) {
        self.module.types_global_values.push(instruction);
    }

    pub fn void(&mut self) -> Word {
        self.shape(Shape::Void)
    }

    /// The type of a value. All integers are unsigned: operations decide what is signed.
    pub fn ty(&mut self, ty: Type) -> Word {
        self.shape(match ty.kind() {
            TypeKind::Bool => Shape::Bool,
            TypeKind::Float => Shape::Float(ty.bits()),
            TypeKind::Unsigned | TypeKind::Signed => Shape::Int(ty.bits()),
        })
    }

    pub fn u32(&mut self) -> Word {
        self.ty(Type::U32)
    }

    pub fn vector(&mut self, element: Word, count: u32) -> Word {
        self.shape(Shape::Vector(element, count))
    }

    pub fn pair(&mut self, part: Word) -> Word {
        self.shape(Shape::Pair(part))
    }

    pub fn array(&mut self, element: Word, len: Word) -> Word {
        self.shape(Shape::Array(element, len))
    }

    /// The type of a storage buffer: an array of unknown length, whose elements are `stride` bytes apart.
    pub fn buffer(&mut self, element: Word, stride: u32) -> Word {
        // A runtime array is made for its buffer alone, so that it is decorated once.
        if let Some(&known) = self.buffers.get(&element) {
            return known;
        }
        let array = self.id();
        self.global(Instruction::new(Op::TypeRuntimeArray, None, Some(array), vec![Operand::IdRef(element)]));
        self.decorate(array, Decoration::ArrayStride, &[Operand::LiteralBit32(stride)]);
        let id = self.shape(Shape::Buffer(array));
        self.buffers.insert(element, id);
        id
    }

    /// A structure of these members, each at its offset.
    pub fn structure(&mut self, members: &[(Word, u32)]) -> Word {
        let id = self.id();
        for (number, &(_, offset)) in (0..).zip(members) {
            self.member_decorate(id, number, Decoration::Offset, &[Operand::LiteralBit32(offset)]);
        }
        let operands = members.iter().map(|&(member, _)| Operand::IdRef(member)).collect();
        self.global(Instruction::new(Op::TypeStruct, None, Some(id), operands));
        id
    }

    /// A structure of 32-bit words, laid out one behind the other.
    pub fn words(&mut self, count: u32) -> Word {
        let (word, id) = (self.u32(), self.id());
        for member in 0..count {
            self.member_decorate(id, member, Decoration::Offset, &[Operand::LiteralBit32(member * 4)]);
        }
        self.decorate(id, Decoration::Block, &[]);
        self.global(Instruction::new(Op::TypeStruct, None, Some(id), vec![Operand::IdRef(word); count as usize]));
        id
    }

    pub fn pointer(&mut self, class: StorageClass, to: Word) -> Word {
        self.shape(Shape::Pointer(class, to))
    }

    // ---- Constants and variables

    /// A constant of that type, from the bits of its value.
    pub fn constant(&mut self, ty: Type, raw: u64) -> Word {
        let of = self.ty(ty);
        if let Some(&known) = self.constants.get(&(of, raw)) {
            return known;
        }
        let (op, operands) = match (ty, ty.size()) {
            (Type::Bool, _) if raw & 1 != 0 => (Op::ConstantTrue, vec![]),
            (Type::Bool, _) => (Op::ConstantFalse, vec![]),
            (_, 8) => (Op::Constant, vec![Operand::LiteralBit64(raw)]),
            _ => (Op::Constant, vec![Operand::LiteralBit32(raw as u32)]),
        };
        let id = self.id();
        self.global(Instruction::new(op, Some(of), Some(id), operands));
        self.constants.insert((of, raw), id);
        id
    }

    pub fn word(&mut self, value: u32) -> Word {
        self.constant(Type::U32, value.into())
    }

    pub fn null(&mut self, of: Word) -> Word {
        if let Some(&known) = self.nulls.get(&of) {
            return known;
        }
        let id = self.id();
        self.global(Instruction::new(Op::ConstantNull, Some(of), Some(id), vec![]));
        self.nulls.insert(of, id);
        id
    }

    pub fn spec_constant(&mut self, number: u32, default: u32, name: &str) -> Word {
        let (ty, id) = (self.u32(), self.id());
        self.global(Instruction::new(Op::SpecConstant, Some(ty), Some(id), vec![Operand::LiteralBit32(default)]));
        self.decorate(id, Decoration::SpecId, &[Operand::LiteralBit32(number)]);
        self.name(id, name);
        id
    }

    pub fn spec_composite(&mut self, of: Word, parts: &[Word]) -> Word {
        let id = self.id();
        let parts = parts.iter().map(|&part| Operand::IdRef(part)).collect();
        self.global(Instruction::new(Op::SpecConstantComposite, Some(of), Some(id), parts));
        id
    }

    /// Returns a constant array of these constants.
    pub fn composite(&mut self, of: Word, parts: &[Word]) -> Word {
        let id = self.id();
        let parts = parts.iter().map(|&part| Operand::IdRef(part)).collect();
        self.global(Instruction::new(Op::ConstantComposite, Some(of), Some(id), parts));
        id
    }

    pub fn variable(&mut self, class: StorageClass, of: Word, name: &str) -> Word {
        let (pointer, id) = (self.pointer(class, of), self.id());
        self.global(Instruction::new(Op::Variable, Some(pointer), Some(id), vec![Operand::StorageClass(class)]));
        self.name(id, name);
        id
    }

    /// Declares a number of the function that is being made, which is stored and loaded as if it were in memory; it begins
    /// as zero. Its values have its name, if it has one.
    pub fn local(&mut self, of: Word, name: Option<String>) -> Word {
        let (zero, id) = (self.null(of), self.id());
        self.ssa.declare(id, of, zero);
        self.names.extend(name.map(|name| (id, name)));
        id
    }

    /// Declares a variable of the function that is being made, which begins as the constant `first`.
    pub fn local_variable(&mut self, of: Word, name: &str, first: Word) -> Word {
        let (pointer, id) = (self.pointer(StorageClass::Function, of), self.id());
        let operands = vec![Operand::StorageClass(StorageClass::Function), Operand::IdRef(first)];
        self.variables.push(Instruction::new(Op::Variable, Some(pointer), Some(id), operands));
        self.name(id, name);
        id
    }

    pub fn bind(&mut self, variable: Word, set: u32, binding: u32) {
        self.decorate(variable, Decoration::DescriptorSet, &[Operand::LiteralBit32(set)]);
        self.decorate(variable, Decoration::Binding, &[Operand::LiteralBit32(binding)]);
    }

    // ---- Names and decorations

    pub fn name(&mut self, id: Word, name: &str) {
        self.named.insert(id);
        let operands = vec![Operand::IdRef(id), Operand::LiteralString(name.into())];
        self.module.debug_names.push(Instruction::new(Op::Name, None, None, operands));
    }

    pub fn member_name(&mut self, id: Word, member: u32, name: &str) {
        let operands = vec![Operand::IdRef(id), Operand::LiteralBit32(member), Operand::LiteralString(name.into())];
        self.module.debug_names.push(Instruction::new(Op::MemberName, None, None, operands));
    }

    /// Forbids that a result is contracted with another one.
    pub fn never_contracted(&mut self, id: Word) {
        if self.exact.insert(id) {
            self.decorate(id, Decoration::NoContraction, &[]);
        }
    }

    pub fn decorate(&mut self, id: Word, decoration: Decoration, more: &[Operand]) {
        let operands = [&[Operand::IdRef(id), Operand::Decoration(decoration)], more].concat();
        self.module.annotations.push(Instruction::new(Op::Decorate, None, None, operands));
    }

    pub fn built_in(&mut self, id: Word, built_in: BuiltIn) {
        self.decorate(id, Decoration::BuiltIn, &[Operand::BuiltIn(built_in)]);
    }

    fn member_decorate(&mut self, id: Word, member: u32, decoration: Decoration, more: &[Operand]) {
        let head = [Operand::IdRef(id), Operand::LiteralBit32(member), Operand::Decoration(decoration)];
        let operands = [&head, more].concat();
        self.module.annotations.push(Instruction::new(Op::MemberDecorate, None, None, operands));
    }

    /// Records that the following instructions come from that source line.
    pub fn line(&mut self, file: &'static str, line: u32, column: u32) {
        let id = match self.files.get(file) {
            Some(&id) => id,
            None => {
                let id = self.id();
                let text = vec![Operand::LiteralString(file.into())];
                self.module.debug_string_source.push(Instruction::new(Op::String, None, Some(id), text));
                self.files.insert(file, id);
                id
            }
        };
        let operands = vec![Operand::IdRef(id), Operand::LiteralBit32(line), Operand::LiteralBit32(column)];
        self.push(Instruction::new(Op::Line, None, None, operands));
    }

    // ---- Functions and blocks

    /// Begins the function `id`, without a result, and its first block. Returns its parameters.
    pub fn begin_as(&mut self, id: Word, parameters: &[Word], name: &str) -> Vec<Word> {
        let void = self.void();
        let ty = self.shape(Shape::Function(void, parameters.to_vec()));
        let control = Operand::FunctionControl(FunctionControl::NONE);
        let mut function = Function::new();
        function.def = Some(Instruction::new(Op::Function, Some(void), Some(id), vec![control, Operand::IdRef(ty)]));
        let given: Vec<_> = parameters.iter().map(|_| self.id()).collect();
        function.parameters = parameters
            .iter()
            .zip(&given)
            .map(|(&ty, &id)| Instruction::new(Op::FunctionParameter, Some(ty), Some(id), vec![]))
            .collect();
        self.function = Some(function);
        self.name(id, name);
        let first = self.id();
        self.label(first);
        given
    }

    /// Ends the function.
    pub fn end(&mut self) {
        self.close();
        let Some(mut function) = self.function.take() else { return };
        self.made = Made::default();
        self.values(&mut function);
        self.gone.extend(tidy(&mut function.blocks));
        function.end = Some(Instruction::new(Op::FunctionEnd, None, None, vec![]));
        if let Some(first) = function.blocks.first_mut() {
            first.instructions.splice(0..0, self.variables.drain(..));
        }
        self.module.functions.push(function);
    }

    /// Puts the values of the function's numbers where they are used.
    fn values(&mut self, function: &mut Function) {
        let ssa = std::mem::take(&mut self.ssa);
        let names = std::mem::take(&mut self.names);
        let mut phis: Vec<_> = ssa.phis().filter_map(|(id, number)| Some((id, names.get(&number)?))).collect();
        phis.sort_unstable();
        for (id, name) in phis {
            self.name(id, name);
        }
        let mut phis = ssa.instructions();
        for block in &mut function.blocks {
            for operand in block.instructions.iter_mut().flat_map(|instruction| &mut instruction.operands) {
                if let Operand::IdRef(id) = operand {
                    *id = ssa.itself(*id);
                }
            }
            let label = block.label.as_ref().and_then(|label| label.result_id);
            let phis = label.and_then(|label| phis.remove(&label)).unwrap_or_default();
            block.instructions.splice(0..0, phis);
        }
    }

    /// Begins the block at a loop's head. The loop goes back there until [`Assembler::comes_back`] says that it has.
    pub fn head(&mut self, id: Word) {
        self.ssa.unseal(id);
        self.label(id);
    }

    /// Notes that a loop has come back to its head.
    pub fn comes_back(&mut self, head: Word) {
        self.ssa.seal(head, &mut self.next);
    }

    /// Begins a block, behind all code that goes there.
    pub fn label(&mut self, id: Word) {
        self.close();
        self.here = id;
        let mut block = Block::new();
        block.label = Some(Instruction::new(Op::Label, None, Some(id), vec![]));
        self.block = Some(block);
    }

    fn close(&mut self) {
        if let (Some(block), Some(function)) = (self.block.take(), &mut self.function) {
            function.blocks.push(block);
        }
    }

    /// Whether there is a block that has not ended: whether what follows can run.
    pub fn is_open(&self) -> bool {
        self.block.is_some()
    }

    fn push(&mut self, instruction: Instruction) {
        if let Some(block) = &mut self.block {
            block.instructions.push(instruction);
        }
    }

    /// Appends an instruction without a result.
    pub fn act(&mut self, op: Op, operands: Vec<Operand>) {
        if let (Op::Store, [Operand::IdRef(number), Operand::IdRef(value)]) = (op, operands.as_slice())
            && self.ssa.is_number(*number)
        {
            return self.store(*number, *value);
        }
        self.push(Instruction::new(op, None, None, operands));
    }

    fn store(&mut self, number: Word, value: Word) {
        if !self.is_open() {
            return;
        }
        self.ssa.set(self.here, number, value);
        if let Some(name) = self.names.get(&number)
            && self.results.contains(&value)
            && !self.named.contains(&value)
        {
            let name = name.clone();
            self.name(value, &name);
        }
    }

    /// Appends an instruction that ends the block.
    pub fn terminate(&mut self, op: Op, operands: Vec<Operand>) {
        if self.is_open() {
            let selector = usize::from(op != Op::Branch);
            for target in operands.iter().skip(selector) {
                if let Operand::IdRef(target) = target {
                    self.ssa.goes(self.here, *target);
                }
            }
        }
        self.act(op, operands);
        self.close();
    }

    /// Appends an instruction with a result, unless the result is known, and returns the result.
    pub fn op(&mut self, op: Op, of: Word, operands: Vec<Operand>) -> Word {
        if let (Op::Load, [Operand::IdRef(number)]) = (op, operands.as_slice())
            && self.ssa.is_number(*number)
        {
            return self.ssa.value(self.here, *number, &mut self.next);
        }
        let key = Made::key(op, of, &operands);
        if let Some(known) = key.as_ref().and_then(|key| self.made.result(key)) {
            return known;
        }
        let id = self.id();
        if let Some(key) = key.filter(|_| self.is_open()) {
            self.made.add(key, id);
        }
        self.results.insert(id);
        self.push(Instruction::new(op, Some(of), Some(id), operands));
        id
    }

    /// The point that [`Assembler::forget`] goes back to.
    pub fn made(&self) -> usize {
        self.made.mark()
    }

    /// Forgets the results since a point: code from here on may be reached without them.
    pub fn forget(&mut self, made: usize) {
        self.made.forget(made);
    }

    /// Appends an instruction with a result, whose operands are results.
    pub fn of(&mut self, op: Op, of: Word, operands: &[Word]) -> Word {
        self.op(op, of, operands.iter().map(|&id| Operand::IdRef(id)).collect())
    }

    /// Appends an instruction of the set `GLSL.std.450`.
    pub fn extended(&mut self, function: rspirv::spirv::GlslStd450Op, of: Word, operands: &[Word]) -> Word {
        let set = match self.extended {
            Some(set) => set,
            None => {
                let id = self.id();
                let name = vec![Operand::LiteralString("GLSL.std.450".into())];
                self.module.ext_inst_imports.push(Instruction::new(Op::ExtInstImport, None, Some(id), name));
                *self.extended.insert(id)
            }
        };
        let head = [Operand::IdRef(set), Operand::LiteralExtInstInteger(function as u32)];
        let operands = head.into_iter().chain(operands.iter().map(|&id| Operand::IdRef(id))).collect();
        self.op(Op::ExtInst, of, operands)
    }

    // ---- The module

    pub fn execution_mode(&mut self, entry: Word, mode: ExecutionMode, more: &[u32]) {
        let head = [Operand::IdRef(entry), Operand::ExecutionMode(mode)];
        let operands = head.into_iter().chain(more.iter().map(|&word| Operand::LiteralBit32(word))).collect();
        self.module.execution_modes.push(Instruction::new(Op::ExecutionMode, None, None, operands));
    }

    /// The module's words. Its entry point is `entry`.
    pub fn finish(mut self, entry: Word) -> Vec<u32> {
        let names = |instruction: &Instruction| match instruction.operands.first() {
            Some(Operand::IdRef(id)) => !self.gone.contains(id),
            _ => true,
        };
        self.module.debug_names.retain(names);
        self.module.annotations.retain(names);
        let model = vec![Operand::AddressingModel(AddressingModel::Logical), Operand::MemoryModel(MemoryModel::Vulkan)];
        self.module.memory_model = Some(Instruction::new(Op::MemoryModel, None, None, model));
        let variables = self.module.types_global_values.iter().filter(|global| global.class.opcode == Op::Variable);
        let interface = variables.filter_map(|variable| variable.result_id).map(Operand::IdRef);
        let head = [
            Operand::ExecutionModel(ExecutionModel::GLCompute),
            Operand::IdRef(entry),
            Operand::LiteralString("main".into()),
        ];
        let operands = head.into_iter().chain(interface).collect();
        self.module.entry_points.push(Instruction::new(Op::EntryPoint, None, None, operands));
        let mut header = ModuleHeader::new(self.next);
        header.set_version(1, 5);
        self.module.header = Some(header);
        self.module.assemble()
    }
}

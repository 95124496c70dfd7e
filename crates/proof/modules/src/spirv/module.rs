//! What a module declares, apart from types and values: entry points, decorations, functions.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use rspirv::spirv::{
    AddressingModel, BuiltIn, Decoration, ExecutionMode, ExecutionModel, FunctionParameterAttribute, MemoryModel, Op,
    StorageClass,
};

use super::instruction::{Id, Instruction, Listing, source_names};
use super::loop_bounds;
use crate::refused::Refused;

/// The decorations of a module.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    /// By the result and, for a member of a structure, its number.
    decorations: HashMap<(Id, Option<u32>, u32), Vec<u32>>,
}

impl Declarations {
    /// The first operand of a decoration, 0 for one without; `None` where the result does not have it.
    pub fn decoration(&self, of: Id, which: Decoration) -> Option<u32> {
        let operands = self.decorations.get(&(of, None, which as u32))?;
        Some(operands.first().copied().unwrap_or(0))
    }

    /// The first operand of a member's decoration, 0 for one without; `None` where the member does not have it.
    pub fn member_decoration(&self, of: Id, member: u32, which: Decoration) -> Option<u32> {
        let operands = self.decorations.get(&(of, Some(member), which as u32))?;
        Some(operands.first().copied().unwrap_or(0))
    }

    /// The built-in that a result is.
    pub fn built_in(&self, of: Id) -> Option<BuiltIn> {
        BuiltIn::from_u32(self.decoration(of, Decoration::BuiltIn)?)
    }
}

/// The set of the debug information that compilers of OpenCL write.
pub(super) const OPENCL_DEBUG: &str = "OpenCL.DebugInfo.100";

/// An entry point of a module, which is a kernel.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name by which the entry point is launched.
    pub name: String,
    /// The number of the function that runs.
    pub function: Id,
    /// The size of a workgroup, as far as an execution mode fixes it: literals, or the results that hold it.
    pub local_size: Option<LocalSize>,
    /// The variables that it lists.
    pub interface: Vec<Id>,
}

/// The size of a workgroup that an execution mode names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalSize {
    /// `LocalSize`
    Literal([u32; 3]),
    /// `LocalSizeId`
    Ids([Id; 3]),
}

impl LocalSize {
    /// The size that an execution mode gives; `None` for other modes.
    fn of(mode: &Instruction) -> Result<Option<LocalSize>, Refused> {
        let sizes = || Ok::<_, Refused>([mode.operand(2)?, mode.operand(3)?, mode.operand(4)?]);
        Ok(match ExecutionMode::from_u32(mode.operand(1)?) {
            Some(ExecutionMode::LocalSize) => Some(LocalSize::Literal(sizes()?)),
            Some(ExecutionMode::LocalSizeId) => Some(LocalSize::Ids(sizes()?)),
            _ => None,
        })
    }
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// The parameters: their types and results.
    pub parameters: Vec<(Id, Id)>,
    /// The blocks in their order.
    pub blocks: Vec<Block>,
    /// The number of each label's block.
    numbers: HashMap<Id, usize>,
    /// The number of its first instruction.
    pub at: usize,
}

impl Function {
    fn begin(&mut self, block: Block) {
        self.numbers.insert(block.label, self.blocks.len());
        self.blocks.push(block);
    }

    /// Adds the instruction of this number to the function; one that may as well stand outside goes to `global`.
    fn add(&mut self, number: usize, instruction: &Instruction, global: &mut Vec<usize>) -> Result<(), Refused> {
        match instruction.op {
            Op::FunctionParameter => self.parameters.push((instruction.ty()?, instruction.id()?)),
            Op::Label => self.begin(Block { label: instruction.id()?, body: number + 1..number + 1 }),
            Op::Line | Op::NoLine => {
                if let Some(block) = self.blocks.last_mut() {
                    block.body.end = number + 1;
                }
            }
            Op::Function => return Err(instruction.refused("a function within a function")),
            // They stand before the functions in a valid module; here they mean the same.
            Op::Constant | Op::ConstantTrue | Op::ConstantFalse | Op::ConstantComposite | Op::ConstantNull => {
                global.push(number);
                if let Some(block) = self.blocks.last_mut() {
                    block.body.end = number + 1;
                }
            }
            _ => match self.blocks.last_mut() {
                Some(block) => block.body.end = number + 1,
                None => return Err(instruction.refused("an instruction before the function's first label")),
            },
        }
        Ok(())
    }

    /// The block of a label.
    pub fn block(&self, label: Id) -> Option<&Block> {
        self.number_of(label).map(|number| &self.blocks[number])
    }

    /// The number of the block with a label.
    pub fn number_of(&self, label: Id) -> Option<usize> {
        self.numbers.get(&label).copied()
    }
}

/// A basic block of a function: its label and the instructions up to the one that ends it.
#[derive(Clone, Debug)]
pub struct Block {
    /// The number of the `OpLabel` with which the block begins.
    pub label: Id,
    /// The numbers of the instructions behind it.
    pub body: Range<usize>,
}

/// A SPIR-V module, read and not yet lowered.
#[derive(Clone, Debug)]
pub struct Spirv {
    pub(super) listing: Listing,
    pub(super) declared: Declarations,
    /// The memory model that the module declares: `OpMemoryModel`.
    pub model: MemoryModel,
    pub(super) entries: Vec<Entry>,
    pub(super) functions: HashMap<Id, Function>,
    /// The numbers of the instructions outside of functions, in their order.
    pub(super) global: Vec<usize>,
    /// The names of the imported sets of extended instructions.
    pub(super) sets: HashMap<Id, String>,
    /// The strings, for the files of lines.
    pub(super) strings: HashMap<Id, String>,
    /// The text, or for a binary module a line for each instruction.
    pub text: String,
}

impl Spirv {
    /// Sorts the instructions of a module.
    pub(super) fn of(listing: Listing, text: String) -> Result<Spirv, Refused> {
        let listing = Listing { instructions: loop_bounds::without(listing.instructions), ..listing };
        let (mut declared, mut entries) = (Declarations::default(), Vec::<Entry>::new());
        let (mut functions, mut global) = (HashMap::new(), Vec::new());
        let (mut sets, mut strings, mut modes) = (HashMap::new(), HashMap::new(), Vec::new());
        let mut model = None;
        let mut open: Option<(Id, Function)> = None;
        let mut results = HashSet::new();
        for (number, instruction) in listing.instructions.iter().enumerate() {
            // SPIR-V 1.6, 2.4: a module is in static single assignment form.
            if instruction.result.is_some_and(|result| !results.insert(result)) {
                return Err(instruction.refused("its result is another instruction's too"));
            }
            if let Some((_, function)) = &mut open {
                match instruction.op {
                    Op::FunctionEnd => {
                        let closed = open.take();
                        functions.extend(closed);
                    }
                    _ => function.add(number, instruction, &mut global)?,
                }
                continue;
            }
            match instruction.op {
                Op::Function => {
                    let function =
                        Function { parameters: Vec::new(), blocks: Vec::new(), numbers: HashMap::new(), at: number };
                    open = Some((instruction.id()?, function));
                }
                Op::MemoryModel => model = Some(memory_model(instruction)?),
                Op::EntryPoint => {
                    let (name, behind) = instruction.string(2);
                    let model = ExecutionModel::from_u32(instruction.operand(0)?);
                    if matches!(model, Some(ExecutionModel::GLCompute | ExecutionModel::Kernel)) {
                        entries.push(Entry {
                            name,
                            function: instruction.operand(1)?,
                            local_size: None,
                            interface: instruction.rest(behind).to_vec(),
                        });
                    }
                }
                Op::ExecutionMode | Op::ExecutionModeId => modes.push(instruction),
                Op::Decorate | Op::DecorateId | Op::DecorateString => {
                    let (of, which) = (instruction.operand(0)?, instruction.operand(1)?);
                    declared.decorations.insert((of, None, which), instruction.rest(2).to_vec());
                }
                Op::MemberDecorate => {
                    let (of, member) = (instruction.operand(0)?, instruction.operand(1)?);
                    let which = instruction.operand(2)?;
                    declared.decorations.insert((of, Some(member), which), instruction.rest(3).to_vec());
                }
                Op::GroupDecorate | Op::GroupMemberDecorate => {
                    return Err(instruction.refused("groups of decorations are not supported"));
                }
                Op::ExtInstImport => drop(sets.insert(instruction.id()?, instruction.string(0).0)),
                Op::String => drop(strings.insert(instruction.id()?, instruction.string(0).0)),
                _ => global.push(number),
            }
        }
        if let Some((_, function)) = open {
            return Err(listing.instructions[function.at].refused("the function does not end"));
        }
        for mode in modes {
            let (of, size) = (mode.operand(0)?, LocalSize::of(mode)?);
            entries.iter_mut().filter(|entry| entry.function == of).for_each(|entry| {
                entry.local_size = size.or(entry.local_size);
            });
        }
        let model = model.ok_or_else(|| listing.ends_without("`OpMemoryModel`"))?;
        Ok(Spirv { listing, declared, model, entries, functions, global, sets, strings, text })
    }

    /// Whether an extended instruction is only for debuggers.
    pub(super) fn is_debug(&self, instruction: &Instruction) -> bool {
        let set = instruction.operands.first().and_then(|set| self.sets.get(set));
        set.is_some_and(|set| set == OPENCL_DEBUG || set == "NonSemantic.Shader.DebugInfo.100")
    }

    /// The names of the entry points.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// The result of that name.
    pub fn id(&self, name: &str) -> Option<Id> {
        let named = self.listing.names.iter().find(|(_, known)| *known == name).map(|(&id, _)| id);
        // The number of a result that has a name is one for it too.
        named.or_else(|| name.parse().ok().filter(|id| self.listing.names.contains_key(id)))
    }

    /// Whether a launch may give the result of that name contents: a variable, a specialization constant, or a
    /// parameter of the kernel.
    pub fn takes_contents(&self, name: &str, entry: Option<&str>) -> bool {
        if self.parameter_names(entry).is_ok_and(|names| names.iter().any(|parameter| parameter == name)) {
            return true;
        }
        let id = self.id(name);
        self.with_contents().any(|instruction| instruction.result == id)
    }

    /// The variable that is a block whose only member has this name: `buffer In { uint src[]; };`, of which sources say
    /// `src`.
    pub fn block_with(&self, member: &str) -> Option<String> {
        let of_block = |instruction: &&Instruction| {
            let pointer = instruction.ty().ok().and_then(|ty| self.defined(ty));
            let to = pointer.and_then(|at| self.instruction(at).operands.get(1).copied());
            let ty = to.and_then(|to| self.defined(to)).map(|at| self.instruction(at));
            ty.is_some_and(|ty| {
                let id = ty.result.unwrap_or_default();
                ty.op == Op::TypeStruct && ty.operands.len() == 1 && self.member_name(id, 0).as_deref() == Some(member)
            })
        };
        let mut all = self.with_contents().filter(|instruction| instruction.op == Op::Variable).filter(of_block);
        let found = all.next().and_then(|instruction| Some(self.name(instruction.result?)));
        found.filter(|_| all.next().is_none())
    }

    /// Whether a function's parameter is a pointer to what the caller passes by value, as OpenCL C passes structs.
    pub(super) fn is_by_value(&self, parameter: Id) -> bool {
        let by_value = [parameter, Decoration::FuncParamAttr as u32, FunctionParameterAttribute::ByVal as u32];
        let mut all = self.listing.instructions.iter().filter(|instruction| instruction.op == Op::Decorate);
        all.any(|instruction| instruction.operands == by_value)
    }

    /// The variable or specialization constant that the source calls so, where the text of a disassembler has another
    /// name for it: a number, or `_` for a block without an instance.
    pub fn called_by_source(&self, name: &str) -> Option<String> {
        let names = source_names(&self.listing);
        let is_it = |result: &Id| names.get(result).is_some_and(|known| known == name);
        self.with_contents().filter_map(|instruction| instruction.result).find(is_it).map(|result| self.name(result))
    }

    /// The names of what a launch may give contents, apart from what only the device gives (`gl_LocalInvocationID`) and
    /// what threads have alone.
    pub fn names_with_contents(&self) -> Vec<String> {
        let is_given = |instruction: &&Instruction| {
            let class = instruction.operands.first().copied().and_then(StorageClass::from_u32);
            instruction.op != Op::Variable || !matches!(class, Some(StorageClass::Input | StorageClass::Function))
        };
        self.with_contents().filter(is_given).filter_map(|instruction| Some(self.name(instruction.result?))).collect()
    }

    /// The variables and the specialization constants.
    fn with_contents(&self) -> impl Iterator<Item = &Instruction> {
        use Op::{SpecConstant, SpecConstantComposite, SpecConstantFalse, SpecConstantTrue, Variable};
        self.listing.instructions.iter().filter(|instruction| {
            matches!(
                instruction.op,
                Variable | SpecConstant | SpecConstantTrue | SpecConstantFalse | SpecConstantComposite
            )
        })
    }

    /// The name of a result, as the text writes it behind the `%`.
    pub fn name(&self, id: Id) -> String {
        self.listing.names.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }
}

/// The memory model; addresses are logical, but for OpenCL's of 64 bits.
fn memory_model(instruction: &Instruction) -> Result<MemoryModel, Refused> {
    let addresses = AddressingModel::from_u32(instruction.operand(0)?);
    let addresses = addresses.ok_or_else(|| instruction.refused("its addressing model is unknown"))?;
    let model = MemoryModel::from_u32(instruction.operand(1)?);
    let model = model.ok_or_else(|| instruction.refused("its memory model is unknown"))?;
    match (addresses, model) {
        (AddressingModel::Logical, MemoryModel::Vulkan | MemoryModel::GLSL450)
        | (AddressingModel::Physical64, MemoryModel::OpenCL) => Ok(model),
        (AddressingModel::Physical32, MemoryModel::OpenCL) => Err(instruction
            .refused("addresses of 32 bits are not supported: compile it for 64, such as with -target spir64")),
        (AddressingModel::PhysicalStorageBuffer64, _) => Err(instruction.refused(
            "addresses of buffers (GL_EXT_buffer_reference, `buffer_reference`; PhysicalStorageBuffer64) are not supported: bind the \
             buffer to a descriptor, `layout(binding = …) buffer`",
        )),
        (_, MemoryModel::Vulkan | MemoryModel::GLSL450) => {
            Err(instruction.refused(format!("the addressing model {addresses:?} is not supported")))
        }
        _ => {
            Err(instruction
                .refused(format!("the memory model {model:?} with addresses {addresses:?} is not supported")))
        }
    }
}

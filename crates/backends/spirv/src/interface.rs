//! The variables of a module, and the values that a function loads from them when it begins.

use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, MemoryAccess, Op, StorageClass, Word};
use rustc_hash::FxHashMap;
use wattle_ir::{Access, Kernel, LaunchValue, ParamId, ParamKind, SharedArray, SharedLen, Type};

use crate::assemble::Assembler;
use crate::control;
use crate::features::{Features, Workarounds};
use crate::layout::{ArgumentWord, LaunchLayout, SpecConstant, ViewBinding};

/// A place in memory that the kernel can name.
#[derive(Clone, Copy)]
pub struct Variable {
    pub id: Word,
    pub class: StorageClass,
}

/// A number of an element.
#[derive(Clone, Copy)]
pub struct Member {
    /// The number of the structure's member.
    pub number: u32,
    /// The part of the member, where that is a vector.
    pub lane: Option<u32>,
    /// The type of the member, or of its parts: that of the number, or an unsigned one as wide.
    pub ty: Type,
}

/// The module's variables.
pub struct Interface {
    control: Word,
    gate: Word,
    hidden: Option<Word>,
    workgroup: Word,
    workgroups: Word,
    local_index: Word,
    /// The subgroup's number and size, and the invocation's in it, in a kernel that uses its warp.
    subgroup: Option<[Word; 3]>,
    push: Option<(Word, StorageClass)>,
    specs: Vec<Word>,
    pub views: FxHashMap<ParamId, Variable>,
    /// The place of each number in its element, of elements that have several numbers.
    pub members: FxHashMap<ParamId, Member>,
    pub shared: Vec<Variable>,
}

/// The values that are loaded when the kernel begins.
pub struct Entry {
    words: FxHashMap<ArgumentWord, Word>,
    pub block: Word,
    pub thread: Word,
}

impl Entry {
    /// A number of the launch, which is a word of the arguments.
    pub fn launch_value(&self, value: LaunchValue) -> Word {
        self.word(ArgumentWord::Launch(value))
    }

    /// The value of a word of the arguments.
    pub fn word(&self, which: ArgumentWord) -> Word {
        debug_assert!(self.words.contains_key(&which), "the layout names each word that is asked for: {which:?}");
        self.words.get(&which).copied().unwrap_or(self.block)
    }
}

/// The layout of a kernel's arguments, its views and its shared memory; `same` has the views of the buffer of another
/// one before them, each with that.
pub fn layout(kernel: &Kernel, features: &Features, same: &[[ParamId; 2]]) -> LaunchLayout {
    let mut arguments = vec![ArgumentWord::Blocks, ArgumentWord::Number];
    if features.workarounds.hides() {
        arguments.push(ArgumentWord::Zero);
    }
    let mut views = Vec::new();
    for (number, param) in kernel.params.iter().enumerate() {
        let id = ParamId(number as u32);
        match param.kind {
            ParamKind::Scalar(ty) => {
                arguments.push(ArgumentWord::Low(id));
                if ty.size() == 8 {
                    arguments.push(ArgumentWord::High(id));
                }
            }
            // The first number of the elements stands for the view.
            ParamKind::View { .. } if kernel.first_of(id) != id => {}
            ParamKind::View { access, rank, .. } => {
                let first = same.iter().find(|[view, _]| *view == id).map_or(id, |[_, first]| *first);
                let writable = access != Access::Read;
                match views.iter_mut().find(|view: &&mut ViewBinding| view.param == first) {
                    Some(view) => view.writable |= writable,
                    None => views.push(ViewBinding { param: id, writable }),
                }
                arguments.push(ArgumentWord::Offset(id));
                arguments.extend(LaunchValue::of_view(id, rank).map(ArgumentWord::Launch));
            }
        }
    }
    for expr in &kernel.exprs {
        let wattle_ir::Expr::Builtin(builtin, dimension) = *expr else { continue };
        for value in LaunchValue::of_builtin(builtin, dimension, kernel.rank) {
            let word = ArgumentWord::Launch(value);
            // The block's extents are specialization constants.
            if !matches!(value, LaunchValue::BlockExtent(_)) && !arguments.contains(&word) {
                arguments.push(word);
            }
        }
    }
    let bytes = |array: &SharedArray| Some(array.len.known()?.saturating_mul(array.element.size() as u32));
    let statics = kernel.shared.iter().filter_map(bytes);
    let at_launch = kernel.shared.iter().find(|array| array.len == SharedLen::AtLaunch);
    LaunchLayout {
        in_push_constants: arguments.len() as u32 * 4 <= features.push_constant_bytes,
        arguments,
        views,
        shared_bytes: statics.fold(0, u32::saturating_add),
        launch_sized_element: at_launch.map(|array| array.element.size() as u32),
    }
}

/// The places of the numbers in a view's elements, if these have several.
fn places(kernel: &Kernel, view: ParamId) -> Vec<(ParamId, Member)> {
    if kernel.params[view.index()].field.is_none() {
        return Vec::new();
    }
    let packs = kernel.packs(view).into_iter().zip(0..);
    let all = packs.flat_map(|(pack, number)| {
        let is_vector = pack.places.len() > 1;
        let lanes = pack.places.clone().zip(0..);
        let place = move |lane| Member { number, lane: is_vector.then_some(lane), ty: pack.ty };
        lanes.map(move |(param, lane)| (ParamId(param), place(lane))).collect::<Vec<_>>()
    });
    all.collect()
}

impl Interface {
    /// Declares the module's variables.
    pub fn declare(
        asm: &mut Assembler,
        kernel: &Kernel,
        workarounds: &Workarounds,
        layout: &LaunchLayout,
        same: &[[ParamId; 2]],
    ) -> Interface {
        let word = asm.u32();
        let words = asm.buffer(word, 4);
        let [control, gate] = ["control", "gate"].map(|name| asm.variable(StorageClass::StorageBuffer, words, name));
        asm.bind(control, 0, 0);
        asm.bind(gate, 0, 2);
        let triple = asm.vector(word, 3);
        let mut input = |built_in, of, name| {
            let id = asm.variable(StorageClass::Input, of, name);
            asm.built_in(id, built_in);
            id
        };
        let workgroup = input(BuiltIn::WorkgroupId, triple, "workgroup");
        let workgroups = input(BuiltIn::NumWorkgroups, triple, "workgroups");
        let local_index = input(BuiltIn::LocalInvocationIndex, word, "local_index");
        let subgroup = kernel.first_use_of_warps().map(|_| {
            [
                input(BuiltIn::SubgroupId, word, "subgroup"),
                input(BuiltIn::SubgroupSize, word, "subgroup_size"),
                input(BuiltIn::SubgroupLocalInvocationId, word, "lane"),
            ]
        });
        let names = ["threads", "extent_0", "extent_1", "extent_2", "extent_3", "shared_len", "workgroup_threads"];
        let specs: Vec<_> = SpecConstant::ALL
            .iter()
            .zip(names)
            .map(|(&which, name)| asm.spec_constant(which as u32, 1, name))
            .collect();
        let one = asm.word(1);
        let size = asm.spec_composite(triple, &[specs[SpecConstant::Workgroup as usize], one, one]);
        asm.built_in(size, BuiltIn::WorkgroupSize);
        asm.name(size, "workgroup_size");
        let push = layout.in_push_constants.then(|| {
            let block = asm.words(layout.arguments.len() as u32);
            for (number, &argument) in layout.arguments.iter().enumerate() {
                asm.member_name(block, number as u32, &argument_name(kernel, argument));
            }
            asm.name(block, "Arguments");
            (asm.variable(StorageClass::PushConstant, block, "arguments"), StorageClass::PushConstant)
        });
        let (mut views, mut members) = (FxHashMap::default(), FxHashMap::default());
        for (binding, view) in layout.views.iter().enumerate() {
            let param = &kernel.params[view.param.index()];
            let ParamKind::View { access, element, .. } = param.kind else { continue };
            let buffer = match param.field {
                None => {
                    let of = asm.ty(element);
                    asm.buffer(of, element.size() as u32)
                }
                Some(field) => {
                    let of = kernel.packs(view.param).into_iter().map(|pack| {
                        let (of, count) = (asm.ty(pack.ty), pack.places.len() as u32);
                        let offset = kernel.params[pack.places.start as usize].field.map_or(0, |field| field.offset);
                        (if count > 1 { asm.vector(of, count) } else { of }, offset)
                    });
                    let of: Vec<_> = of.collect();
                    let of = asm.structure(&of);
                    asm.buffer(of, field.size)
                }
            };
            let id = asm.variable(StorageClass::StorageBuffer, buffer, param.name);
            asm.bind(id, 1, binding as u32);
            match access {
                Access::Read if !view.writable && !workarounds.loads_miss_stores => {
                    asm.decorate(id, Decoration::NonWritable, &[])
                }
                // The clocks guarantee that nothing else of the launch touches these elements.
                Access::PerItem => asm.decorate(id, Decoration::Restrict, &[]),
                // Parts of one allocation may be bound.
                Access::Read | Access::Shared | Access::Atomic => asm.decorate(id, Decoration::Aliased, &[]),
            }
            let others = same.iter().filter(|[_, first]| *first == view.param).map(|[other, _]| *other);
            for of in std::iter::once(view.param).chain(others) {
                members.extend(places(kernel, of));
                views.insert(of, Variable { id, class: StorageClass::StorageBuffer });
            }
        }
        let mut shared = Vec::new();
        for array in &kernel.shared {
            let of = asm.ty(array.element);
            let len = match array.len.known() {
                Some(len) => asm.word(len.max(1)),
                None => specs[SpecConstant::SharedLen as usize],
            };
            let of = asm.array(of, len);
            let id = asm.variable(StorageClass::Workgroup, of, array.name);
            shared.push(Variable { id, class: StorageClass::Workgroup });
        }
        Interface {
            control,
            gate,
            hidden: None,
            workgroup,
            workgroups,
            local_index,
            subgroup,
            push,
            specs,
            views,
            members,
            shared,
        }
    }

    /// The device's hidden word, declared when it is first used.
    pub fn hidden(&mut self, asm: &mut Assembler) -> Word {
        *self.hidden.get_or_insert_with(|| {
            let word = asm.u32();
            let words = asm.buffer(word, 4);
            let id = asm.variable(StorageClass::StorageBuffer, words, "sequential_consistency");
            asm.bind(id, 0, 1);
            id
        })
    }

    pub fn spec(&self, which: SpecConstant) -> Word {
        self.specs[which as usize]
    }

    /// The number of the thread's block, and the thread's number in that block.
    pub fn position(&self, asm: &mut Assembler) -> (Word, Word) {
        let word = asm.u32();
        let triple = asm.vector(word, 3);
        let workgroup = asm.of(Op::Load, triple, &[self.workgroup]);
        let workgroups = asm.of(Op::Load, triple, &[self.workgroups]);
        let mut part = |of, at| asm.op(Op::CompositeExtract, word, vec![Operand::IdRef(of), Operand::LiteralBit32(at)]);
        let (x, y, across) = (part(workgroup, 0), part(workgroup, 1), part(workgroups, 0));
        let before = asm.of(Op::IMul, word, &[y, across]);
        let block = asm.of(Op::IAdd, word, &[before, x]);
        (block, self.thread(asm))
    }

    /// The thread's number in its block.
    fn thread(&self, asm: &mut Assembler) -> Word {
        let word = asm.u32();
        let Some(parts) = self.subgroup else { return asm.of(Op::Load, word, &[self.local_index]) };
        let [subgroup, size, lane] = parts.map(|part| asm.of(Op::Load, word, &[part]));
        let first = asm.of(Op::IMul, word, &[subgroup, size]);
        asm.of(Op::IAdd, word, &[first, lane])
    }

    /// The warp's number in its block, its size, and the thread's lane.
    pub fn warp(&self, asm: &mut Assembler) -> [Word; 3] {
        let word = asm.u32();
        match self.subgroup {
            Some(parts) => parts.map(|part| asm.of(Op::Load, word, &[part])),
            None => [0, 1, 0].map(|number| asm.word(number)),
        }
    }

    /// A pointer to a word of the control block.
    pub fn control(&self, asm: &mut Assembler, at: Word) -> Word {
        self.word_of(asm, self.control, at)
    }

    /// A pointer to the queue's gate.
    pub fn gate(&self, asm: &mut Assembler) -> Word {
        let zero = asm.word(0);
        self.word_of(asm, self.gate, zero)
    }

    fn word_of(&self, asm: &mut Assembler, buffer: Word, at: Word) -> Word {
        let (word, zero) = (asm.u32(), asm.word(0));
        let pointer = asm.pointer(StorageClass::StorageBuffer, word);
        asm.of(Op::AccessChain, pointer, &[buffer, zero, at])
    }

    /// Loads the arguments.
    pub fn enter(&self, asm: &mut Assembler, kernel: &Kernel, layout: &LaunchLayout) -> Entry {
        let (block, thread) = self.position(asm);
        asm.name(block, "block");
        asm.name(thread, "thread");
        let words = layout.arguments.iter().enumerate();
        let words = words.map(|(number, &argument)| {
            let id = self.argument(asm, number as u32);
            asm.name(id, &argument_name(kernel, argument));
            (argument, id)
        });
        Entry { words: words.collect(), block, thread }
    }

    /// Loads one of the argument words.
    pub fn argument(&self, asm: &mut Assembler, number: u32) -> Word {
        let word = asm.u32();
        match self.push {
            Some((variable, class)) => {
                let (pointer, at) = (asm.pointer(class, word), asm.word(number));
                let at = asm.of(Op::AccessChain, pointer, &[variable, at]);
                asm.of(Op::Load, word, &[at])
            }
            None => {
                let at = asm.word(control::ARGUMENTS + number);
                let at = self.control(asm, at);
                load(asm, word, at)
            }
        }
    }
}

/// A plain load of memory that other threads may touch.
pub fn load(asm: &mut Assembler, of: Word, pointer: Word) -> Word {
    asm.op(Op::Load, of, vec![Operand::IdRef(pointer), Operand::MemoryAccess(MemoryAccess::NON_PRIVATE_POINTER)])
}

/// A plain store to memory that other threads may touch.
pub fn store(asm: &mut Assembler, pointer: Word, value: Word) {
    let operands = [pointer, value].map(Operand::IdRef).into_iter();
    asm.act(Op::Store, operands.chain([Operand::MemoryAccess(MemoryAccess::NON_PRIVATE_POINTER)]).collect());
}

fn argument_name(kernel: &Kernel, argument: ArgumentWord) -> String {
    let of = |id: ParamId| {
        let param = &kernel.params[id.index()];
        format!("{}{}", param.name, param.field.map_or("", |field| field.path))
    };
    match argument {
        ArgumentWord::Blocks => "blocks".into(),
        ArgumentWord::Number => "number".into(),
        ArgumentWord::Zero => "zero".into(),
        ArgumentWord::Offset(id) => format!("{}_offset", of(id)),
        ArgumentWord::Low(id) => of(id),
        ArgumentWord::High(id) => format!("{}_high", of(id)),
        ArgumentWord::Launch(value) => value.name(of),
    }
}

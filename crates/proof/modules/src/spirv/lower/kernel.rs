//! The parameters of a kernel in the OpenCL environment, whose arguments a host sets by their numbers (OpenCL API 3.0,
//! 5.9.2 "Setting Kernel Arguments"): memory, the size of memory that a workgroup gets, and values.
//!
//! A parameter is bound as a variable of a shader is: memory has the binding of its number, and values stand one behind
//! another where the push constants would.

use rspirv::spirv::{NonsemanticShaderDebuginfo100Op as Debug, Op as Opcode, StorageClass};
use wattle_memory::Classes;

use super::interface::{Given, Interface, PushMember};
use super::{Lowering, Place, Pointer, Value, Variable, address_of};
use crate::refused::{Refused, RefusedKind};
use crate::spirv::contents::{Contents, MOST_BYTES};
use crate::spirv::instruction::{Id, Instruction};
use crate::spirv::module::{Entry, Function, OPENCL_DEBUG, Spirv};
use crate::spirv::parts::Parts;
use crate::spirv::types::{Kind as ScalarKind, Leaf, Type};
use crate::types::Space;

/// What the host gives for a parameter.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The address of memory.
    Memory(Pointer),
    /// The size of memory that each workgroup gets.
    Workgroup(Pointer),
    /// The contents of a variable of each thread: a structure by value.
    Contents(Pointer),
    /// A value of the type.
    Value,
}

impl Spirv {
    /// The names of a kernel's parameters: what the debug information or the text calls them, else `arg0`, `arg1` and
    /// so on.
    pub fn parameter_names(&self, entry: Option<&str>) -> Result<Vec<String>, Refused> {
        Ok(self.names_of_parameters(self.entry(entry)?))
    }

    fn names_of_parameters(&self, entry: &Entry) -> Vec<String> {
        let Some(function) = self.functions.get(&entry.function) else { return Vec::new() };
        let from_source = self.source_names(&entry.name);
        let name = |(number, &(_, id)): (usize, &(Id, Id))| {
            let is_number = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
            let own = Some(self.debug_name(id, None)).filter(|name| !is_number(name));
            own.or_else(|| from_source.get(&number).cloned()).unwrap_or_else(|| format!("arg{number}"))
        };
        function.parameters.iter().enumerate().map(name).collect()
    }

    /// The names that `OpenCL.DebugInfo.100` has for the parameters of a function, by their numbers from 0.
    fn source_names(&self, function: &str) -> std::collections::HashMap<usize, String> {
        let debug = |of: Debug| {
            self.global.iter().map(|&number| self.instruction(number)).filter(move |instruction| {
                let set = instruction.operands.first().and_then(|set| self.sets.get(set));
                instruction.op == Opcode::ExtInst
                    && set.is_some_and(|set| set == OPENCL_DEBUG)
                    && instruction.operands.get(1) == Some(&(of as u32))
            })
        };
        let string = |instruction: &Instruction, at: usize| self.strings.get(instruction.operands.get(at)?).cloned();
        let of = debug(Debug::DebugFunction).find(|known| string(known, 2).is_some_and(|name| name == function));
        let parameter = |variable: &Instruction| {
            let is_its = variable.operands.get(7) == of.as_ref()?.result.as_ref();
            let number = (*variable.operands.get(9)? as usize).checked_sub(1)?;
            is_its.then_some(())?;
            Some((number, string(variable, 2)?))
        };
        debug(Debug::DebugLocalVariable).filter_map(parameter).collect()
    }
}

impl Lowering<'_> {
    /// Gives the parameters of the entry point's function their values.
    pub(super) fn parameters(&mut self, entry: &Entry, function: &Function) -> Result<(), Refused> {
        let at = self.module.instruction(function.at);
        let names = self.module.names_of_parameters(entry);
        let mut push_at = 0;
        for (number, (&(ty, id), name)) in function.parameters.iter().zip(names).enumerate() {
            let value = match self.kind(ty, &name, at)? {
                Kind::Memory(pointer) => self.memory_argument(number, &name, pointer, at)?,
                Kind::Workgroup(pointer) => Some(self.workgroup_argument(&name, pointer, at)?),
                Kind::Contents(pointer) => {
                    let bytes = self.value_argument(&name, pointer.to, &mut push_at, at)?;
                    let (address, _) = self.allocate(name, bytes.len() as u64, Some(&bytes));
                    Some(Value::Pointer(Pointer { address: self.constant(address), ..pointer }))
                }
                Kind::Value => {
                    let bytes = self.value_argument(&name, ty, &mut push_at, at)?;
                    let leaves = self.types.leaves(ty).unwrap_or_default();
                    let part = |leaf: &Leaf| {
                        let there = bytes.iter().skip(leaf.offset as usize).take(leaf.ty.bytes() as usize);
                        there.rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)) & leaf.ty.mask()
                    };
                    Some(Value::Parts(leaves.iter().map(part).map(|bits| self.constant(bits)).collect()))
                }
            };
            self.of.insert(id, ty);
            match value {
                Some(value) => drop(self.values.insert(id, value)),
                None => drop(self.unbound.insert(id)),
            }
        }
        Ok(())
    }

    /// What the host gives for a parameter of a type.
    fn kind(&self, ty: Id, name: &str, by: &Instruction) -> Result<Kind, Refused> {
        let wrong = || {
            by.refused(format!("the parameter `{name}` is an image, a queue or another object: they are not supported"))
        };
        match self.types.get(ty) {
            Some(&Type::Pointer { class, .. }) => {
                let pointer = self.pointer_type(ty).ok_or_else(wrong)?;
                match class {
                    StorageClass::CrossWorkgroup | StorageClass::UniformConstant => {
                        let pointer = Pointer { space: Space::Global, classes: Classes::BUFFER, ..pointer };
                        let is_object = matches!(self.types.get(pointer.to), Some(Type::Opaque) | None);
                        if is_object { Err(wrong()) } else { Ok(Kind::Memory(pointer)) }
                    }
                    StorageClass::Workgroup => Ok(Kind::Workgroup(pointer)),
                    StorageClass::Function => Ok(Kind::Contents(pointer)),
                    _ => Err(wrong()),
                }
            }
            Some(Type::Scalar(_) | Type::Many { .. } | Type::Struct(_)) => Ok(Kind::Value),
            Some(Type::Void | Type::Opaque) | None => Err(wrong()),
        }
    }

    /// The memory that the host has bound, or that the contents of that name are given; `None` where nothing is bound.
    fn memory_argument(
        &mut self,
        number: usize,
        name: &str,
        pointer: Pointer,
        by: &Instruction,
    ) -> Result<Option<Value>, Refused> {
        let ty = self.types.runtime_array(pointer.to);
        let (place, address, bytes, initial) = if let Some(bound) = &self.setting.bound {
            let Some(&memory) = bound.memories.get(&(0, number as u32)) else { return Ok(None) };
            (Place::Buffer(memory.buffer), memory.address, memory.bytes, None)
        } else {
            let (bytes, initial) = self.sized(name, ty, by)?;
            let is_buffer = |known: &&Variable| matches!(known.place, Place::Buffer(_));
            let number = self.variables.iter().filter(is_buffer).count();
            (Place::Buffer(number), address_of(number), bytes, initial)
        };
        let pointer = Pointer { address: self.constant(address), ..pointer };
        Ok(Some(self.argument(name, pointer, (place, ty, bytes), initial)))
    }

    fn workgroup_argument(&mut self, name: &str, pointer: Pointer, by: &Instruction) -> Result<Value, Refused> {
        let ty = self.types.runtime_array(pointer.to);
        let bytes = match &self.setting.bound {
            Some(bound) if bound.workgroup_bytes > MOST_BYTES => {
                return Err(by.refused(format!("{} bytes for `{name}` are too many", bound.workgroup_bytes)));
            }
            Some(bound) => bound.workgroup_bytes,
            // The comments of a module have no other way to say its size.
            None => match (self.sized(name, ty, by)?.0, self.setting.inputs.get(name)) {
                (bytes, Some(Contents::List(_) | Contents::Unwritten(..)) | None) => bytes,
                (_, Some(Contents::Bytes(..) | Contents::Members { .. } | Contents::Number(_))) => {
                    let why = "it is memory of the workgroup, which has no first contents: write";
                    return Err(self.launch_is_wrong(name, &format!("{why} --arg {name}=u32[8]"), by));
                }
            },
        };
        let is_workgroup = |known: &&Variable| matches!(known.place, Place::Workgroup(_));
        let number = self.variables.iter().filter(is_workgroup).count();
        let place = (Place::Workgroup(number), ty, bytes);
        let pointer = Pointer { address: self.constant(address_of(number)), ..pointer };
        Ok(self.argument(name, pointer, place, None))
    }

    /// A pointer to a variable that an argument is.
    fn argument(
        &mut self,
        name: &str,
        pointer: Pointer,
        (place, ty, bytes): (Place, Id, u64),
        initial: Option<Vec<u8>>,
    ) -> Value {
        let root = Some(self.variables.len());
        let (name, open) = (name.to_owned(), Vec::new());
        let scalars = self.setting.inputs.get(&name).and_then(Contents::scalars);
        let each = self.parts_of(ty).zip(self.types.size(ty).filter(|&stride| stride > 0));
        let parts = each.map(|(of, stride)| Parts::Many { of: Box::new(of), len: None, stride });
        self.variables.push(Variable {
            name,
            place,
            ty,
            bytes,
            initial,
            open,
            scalars,
            is_read: false,
            parts,
            member: None,
            is_given_by_host: false,
        });
        Value::Pointer(Pointer { root, ..pointer })
    }

    /// The size and the first contents that the argument of that name gives memory.
    fn sized(&self, name: &str, ty: Id, by: &Instruction) -> Result<(u64, Option<Vec<u8>>), Refused> {
        let wrong = |why: String| self.launch_is_wrong(name, &why, by);
        let (bytes, initial) = match self.setting.inputs.get(name) {
            Some(&Contents::Unwritten(bytes, _)) => (bytes, None),
            Some(Contents::Number(number)) => {
                return Err(wrong(format!("it is memory, and a number is given: write --arg {name}=u32[8]:{number}")));
            }
            Some(given) => {
                let initial = given.bytes(ty, &self.types, self.parts_of(ty).as_ref()).map_err(wrong)?;
                (initial.len() as u64, Some(initial))
            }
            None => return Err(wrong(format!("its memory is given at launch: write --arg {name}=u32[8]:0"))),
        };
        if bytes > MOST_BYTES { Err(wrong(format!("{bytes} bytes are too many"))) } else { Ok((bytes, initial)) }
    }

    /// The bytes of a value that the host gives.
    fn value_argument(&self, name: &str, ty: Id, push_at: &mut u64, by: &Instruction) -> Result<Vec<u8>, Refused> {
        let wrong = |why: String| self.launch_is_wrong(name, &why, by);
        let size = self.types.size(ty).filter(|&size| size <= MOST_BYTES);
        let size = size.ok_or_else(|| wrong("its type has no size".into()))?;
        let from = self.types.behind(*push_at, ty);
        *push_at = from + size;
        match (&self.setting.bound, self.setting.inputs.get(name)) {
            (Some(bound), _) => {
                let given = bound.push.iter().copied().skip(from as usize).chain(std::iter::repeat(0));
                Ok(given.take(size as usize).collect())
            }
            (None, Some(Contents::Unwritten(..))) => Err(wrong("it is a value, and a buffer is given".into())),
            (None, Some(given)) => {
                let own = match self.types.get(ty) {
                    Some(Type::Scalar(own)) => Some(*own),
                    Some(Type::Void | Type::Many { .. } | Type::Struct(_) | Type::Pointer { .. } | Type::Opaque)
                    | None => None,
                };
                match (own, given.scalars()) {
                    (Some(own), Some(of)) if (own.kind == ScalarKind::Float) != (of.kind == ScalarKind::Float) => {
                        let [own, of] = [own.kind, of.kind].map(|kind| match kind {
                            ScalarKind::Float => "a float",
                            ScalarKind::Int(_) | ScalarKind::Bool => "an integer",
                        });
                        Err(wrong(format!("it is {own}, and {of} is given")))
                    }
                    _ => given.bytes(ty, &self.types, self.parts_of(ty).as_ref()).map_err(wrong),
                }
            }
            (None, None) => Err(wrong(format!("its value is given at launch: write --arg {name}=…"))),
        }
    }

    /// A refusal of what the launch gives a parameter.
    fn launch_is_wrong(&self, name: &str, why: &str, by: &Instruction) -> Refused {
        Refused { kind: RefusedKind::Launch, ..by.refused(format!("the parameter `{name}`: {why}")) }
    }

    /// What the host gives for the parameters of a kernel.
    pub(super) fn kernel_interface(&self, entry: &Entry, function: &Function) -> Result<Interface, Refused> {
        let at = self.module.instruction(function.at);
        let mut interface = Interface { is_kernel: true, ..Interface::default() };
        let mut push_at = 0;
        let names = self.module.names_of_parameters(entry);
        for (number, (&(ty, _), name)) in (0u32..).zip(function.parameters.iter().zip(names)) {
            let of = match self.kind(ty, &name, at)? {
                Kind::Memory(_) => {
                    interface.order.push(Given::Buffer(interface.buffers.len()));
                    interface.buffers.push(((0, number), name));
                    continue;
                }
                Kind::Workgroup(_) => {
                    interface.workgroup.push(name);
                    continue;
                }
                Kind::Contents(pointer) => pointer.to,
                Kind::Value => ty,
            };
            let (offset, bytes) = (self.types.behind(push_at, of), self.types.size(of).unwrap_or(0));
            push_at = offset + bytes;
            let kind = match self.types.get(of) {
                Some(Type::Scalar(scalar)) => Some(scalar.kind),
                _ => None,
            };
            interface.order.push(Given::Push(interface.push.len()));
            interface.push.push(PushMember { name, offset, bytes, kind });
        }
        Ok(interface)
    }
}

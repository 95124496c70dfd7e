//! What a claim looks at, at the end of an execution.

use std::collections::{BTreeSet, HashMap};

use wattle_check::search::Address;
use wattle_modules::spirv::{Kind as Sort, Place, Scalar, Type, address_of};

use crate::claim::{Claim, Condition, Final, Possible, Quantifier, Term};
use crate::unsupported::Unsupported;
use crate::world::World;

/// A claim, in clauses that each look at few parts of memory.
pub(super) struct Ends<'c> {
    pub quantifier: Quantifier,
    pub clauses: Vec<Clause<'c>>,
}

/// A condition of which one end shows that the claim is met, or not met.
pub(super) struct Clause<'c> {
    condition: &'c Condition,
    /// Each part that it looks at, once.
    parts: Vec<Part>,
    /// The number of the part that a term names.
    named: HashMap<&'c Term, usize>,
}

/// A part of memory: the term that names it, its memory, its first byte, and its type.
struct Part {
    term: Term,
    memory: u32,
    offset: u64,
    ty: Scalar,
}

impl Part {
    /// The value at an end.
    fn value(&self, world: &World, value: &dyn Fn(Address) -> Option<u64>) -> Final {
        let bits = (0..self.ty.bytes()).rev().try_fold(0, |bits, at| {
            let byte = world.final_byte(self.memory, self.offset + at, value)?;
            Some(bits << 8 | u64::from(byte))
        });
        Final { bits: bits.map(|bits| bits & self.ty.mask()), ty: self.ty }
    }
}

impl<'c> Ends<'c> {
    pub fn of(world: &World, claim: &'c Claim) -> Result<Ends<'c>, Unsupported> {
        if let Some(float) = claim.condition.float() {
            return Err(Unsupported::Shape(format!(
                "the claim cannot be judged: `{float}` is no integer; --assert takes floats"
            )));
        }
        let (mut left, mut conditions) = (vec![&claim.condition], Vec::new());
        // All of several hold at every end if each does; one of several holds at no end if none does.
        while let Some(condition) = left.pop() {
            match (condition, claim.quantifier) {
                (Condition::All(parts), Quantifier::Forall) | (Condition::Any(parts), Quantifier::NotExists) => {
                    left.extend(parts.iter().rev());
                }
                (Condition::All(_), Quantifier::Exists | Quantifier::NotExists)
                | (Condition::Any(_), Quantifier::Forall | Quantifier::Exists)
                | (Condition::Not(_) | Condition::Compare(..), _) => conditions.push(condition),
            }
        }
        let clauses = conditions.into_iter().map(|condition| Clause::of(world, condition)).collect::<Result<_, _>>();
        let clauses = clauses.map_err(|why| Unsupported::Shape(format!("the claim cannot be judged: {why}")))?;
        Ok(Ends { quantifier: claim.quantifier, clauses })
    }
}

impl<'c> Clause<'c> {
    fn of(world: &World, condition: &'c Condition) -> Result<Clause<'c>, String> {
        let (mut parts, mut named, mut wrong) = (Vec::new(), HashMap::new(), None);
        condition.visit(&mut |term| {
            if wrong.is_some() || named.contains_key(term) {
                return;
            }
            match place(world, term) {
                Ok((memory, offset, ty)) => {
                    named.insert(term, parts.len());
                    parts.push(Part { term: term.clone(), memory, offset, ty });
                }
                Err(why) => wrong = Some(why),
            }
        });
        wrong.map_or(Ok(Clause { condition, parts, named }), Err)
    }

    /// Whether the condition can be true, and can be false, at an end.
    pub fn possible(&self, world: &World, value: &dyn Fn(Address) -> Option<u64>) -> Option<Possible> {
        self.condition.possible(&|term| {
            let &part = self.named.get(term).expect("every part of the condition has been placed");
            self.parts[part].value(world, value)
        })
    }

    pub fn text(&self, world: &World, value: &dyn Fn(Address) -> Option<u64>) -> String {
        let one = |part: &Part| {
            let Term::Part(name, indices) = &part.term else { return String::new() };
            let indices: String = indices.iter().map(|index| format!("[{index}]")).collect();
            let bits = part.value(world, value).bits.map_or_else(|| "anything".to_owned(), |bits| bits.to_string());
            format!("%{name}{indices} = {bits}")
        };
        let parts: Vec<_> = self.parts.iter().map(one).collect();
        if parts.is_empty() {
            "an execution ends".into()
        } else {
            format!("an execution ends with {}", parts.join(", "))
        }
    }

    /// The cells that it looks at.
    pub fn cells(&self, world: &World) -> BTreeSet<Address> {
        let bytes = |part: &Part| {
            let (memory, offset) = (part.memory, part.offset);
            let cell = move |at| {
                let width = u64::from(world.widths.at(memory, offset + at));
                Address { memory, element: (offset + at) / width * width }
            };
            (0..part.ty.bytes()).map(cell).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(bytes).collect()
    }
}

/// The memory, the first byte and the type of a part of a variable.
fn place(world: &World, term: &Term) -> Result<(u32, u64, Scalar), String> {
    let (Term::Part(name, indices), Some(spirv)) = (term, world.spirv()) else {
        return Err("it is no variable".into());
    };
    let variable = spirv.variables().iter().find(|variable| variable.name == *name);
    let variable = variable.ok_or_else(|| format!("`%{name}` is no variable that threads share"))?;
    let (mut ty, mut offset) = (variable.ty, 0u64);
    for &index in indices {
        let part = spirv.types.part(ty, index).ok_or_else(|| format!("`%{name}` has no part {index} there"))?;
        ty = part.0;
        offset = offset.checked_add(part.1).ok_or("the index is too large")?;
    }
    let Some(Type::Scalar(scalar)) = spirv.types.get(ty) else {
        return Err(format!("`%{name}` has more parts than the indices choose from"));
    };
    if scalar.kind == Sort::Float {
        return Err(format!("`%{name}` is a float there"));
    }
    if offset + scalar.bytes() > variable.bytes {
        return Err(format!("`%{name}` has {} bytes", variable.bytes));
    }
    match variable.place {
        Place::Buffer(number) => Ok((number as u32, offset, *scalar)),
        Place::Workgroup(number) if spirv.shape.workgroups == [1; 3] => {
            Ok((world.shared_memory(0), address_of(number) + offset, *scalar))
        }
        Place::Workgroup(_) => Err(format!("every workgroup has its own `%{name}`")),
        Place::Push => Err(format!("`%{name}` is not written to")),
    }
}

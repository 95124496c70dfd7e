//! Operations of subgroups: votes, shuffles, ballots, reductions and scans, of Vulkan (`OpGroupNonUniform…`) and of
//! OpenCL (`OpGroup…`).
//!
//! All lanes of the subgroup take part; where some do not come, the launch is refused when it is searched.

use rspirv::spirv::{GroupOperation, Op as Opcode};
use wattle_memory::Level;

use super::Lowering;
use crate::code::{Combine, CombinedLanes, Combiner, Exchange, Match, NO_REG, Op, Special, Src, Vote};
use crate::refused::Refused;
use crate::spirv::instruction::Instruction;
use crate::spirv::types::{Kind, Scalar};

/// The words of a ballot: a vector of four.
const WORDS: usize = 4;

/// What a reduction or a scan combines two values by.
fn combiner(op: Opcode) -> Option<Combiner> {
    Some(match op {
        Opcode::GroupNonUniformIAdd | Opcode::GroupIAdd => Combiner::Add,
        Opcode::GroupNonUniformIMul | Opcode::GroupIMulKHR => Combiner::Multiply,
        Opcode::GroupNonUniformSMin | Opcode::GroupSMin => Combiner::MinSigned,
        Opcode::GroupNonUniformUMin | Opcode::GroupUMin => Combiner::MinUnsigned,
        Opcode::GroupNonUniformSMax | Opcode::GroupSMax => Combiner::MaxSigned,
        Opcode::GroupNonUniformUMax | Opcode::GroupUMax => Combiner::MaxUnsigned,
        Opcode::GroupNonUniformBitwiseAnd | Opcode::GroupNonUniformLogicalAnd => Combiner::And,
        Opcode::GroupNonUniformBitwiseOr | Opcode::GroupNonUniformLogicalOr => Combiner::Or,
        Opcode::GroupNonUniformBitwiseXor | Opcode::GroupNonUniformLogicalXor => Combiner::Xor,
        Opcode::GroupNonUniformFAdd | Opcode::GroupFAdd => Combiner::AddFloat,
        Opcode::GroupNonUniformFMin | Opcode::GroupFMin => Combiner::MinFloat,
        Opcode::GroupNonUniformFMax | Opcode::GroupFMax => Combiner::MaxFloat,
        _ => return None,
    })
}

/// The votes and shuffles, each of which is one exchange.
fn exchange(op: Opcode) -> Option<Exchange> {
    Some(match op {
        Opcode::GroupNonUniformAny | Opcode::SubgroupAnyKHR | Opcode::GroupAny => Exchange::Vote(Vote::Any),
        Opcode::GroupNonUniformAll | Opcode::SubgroupAllKHR | Opcode::GroupAll => Exchange::Vote(Vote::All),
        Opcode::GroupNonUniformBroadcast
        | Opcode::GroupNonUniformBroadcastFirst
        | Opcode::GroupNonUniformShuffle
        | Opcode::GroupBroadcast
        | Opcode::SubgroupReadInvocationKHR
        | Opcode::SubgroupFirstInvocationKHR => Exchange::Index,
        Opcode::GroupNonUniformShuffleXor => Exchange::Butterfly,
        Opcode::GroupNonUniformShuffleUp => Exchange::Up,
        Opcode::GroupNonUniformShuffleDown => Exchange::Down,
        _ => return None,
    })
}

impl Lowering<'_> {
    /// Lowers an operation of a subgroup; `false` where it is none.
    pub(super) fn group(&mut self, instruction: &Instruction) -> Result<bool, Refused> {
        let has_scope = !matches!(
            instruction.op,
            Opcode::SubgroupAnyKHR
                | Opcode::SubgroupAllKHR
                | Opcode::SubgroupReadInvocationKHR
                | Opcode::SubgroupFirstInvocationKHR
                | Opcode::SubgroupAllEqualKHR
                | Opcode::SubgroupBallotKHR
        );
        let operands = instruction.rest(usize::from(has_scope));
        if matches!(instruction.op, Opcode::GroupNonUniformQuadBroadcast | Opcode::GroupNonUniformQuadSwap) {
            self.of_subgroup(instruction, has_scope)?;
            self.of_quad(instruction, operands)?;
        } else if let Some(how) = exchange(instruction.op) {
            self.of_subgroup(instruction, has_scope)?;
            self.exchange(instruction, how, operands)?;
        } else if let Some(by) = combiner(instruction.op) {
            self.of_subgroup(instruction, has_scope)?;
            self.combine(instruction, by, operands)?;
        } else {
            match instruction.op {
                Opcode::GroupNonUniformElect => {
                    self.of_subgroup(instruction, has_scope)?;
                    // The lowest of the lanes that are there, which are all of them, and wait for each other.
                    let one = self.constant(1);
                    self.meet(Exchange::Vote(Vote::Any), one, one)?;
                    let lane = self.lane()?;
                    let is_first = self.one(|lane| u64::from(lane == 0), lane)?;
                    self.set_parts(instruction, vec![is_first])?;
                }
                Opcode::GroupNonUniformAllEqual | Opcode::SubgroupAllEqualKHR => {
                    self.of_subgroup(instruction, has_scope)?;
                    self.all_equal(instruction, operands)?;
                }
                Opcode::GroupNonUniformBallot | Opcode::SubgroupBallotKHR => {
                    self.of_subgroup(instruction, has_scope)?;
                    self.ballot(instruction, operands)?;
                }
                Opcode::GroupNonUniformInverseBallot
                | Opcode::GroupNonUniformBallotBitExtract
                | Opcode::GroupNonUniformBallotBitCount
                | Opcode::GroupNonUniformBallotFindLSB
                | Opcode::GroupNonUniformBallotFindMSB => {
                    self.of_subgroup(instruction, has_scope)?;
                    self.of_ballot(instruction, operands)?;
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Refuses an operation of another scope.
    fn of_subgroup(&self, instruction: &Instruction, has_scope: bool) -> Result<(), Refused> {
        if has_scope && self.scope(instruction.operand(0)?, instruction)? != Level::Subgroup {
            return Err(instruction.refused(
                "operations of a group are supported among the lanes of a subgroup: for a workgroup write to shared memory, \
                 and wait at a barrier",
            ));
        }
        Ok(())
    }

    /// What all lanes of the subgroup do together, with a value and a second operand.
    fn meet(&mut self, how: Exchange, a: Src, b: Src) -> Result<Src, Refused> {
        // The lanes that take part are all of the subgroup; there is no clamp.
        let (mask, c) = (self.constant(self.lanes()), self.constant(0));
        let d = self.register("");
        self.emit(Op::Exchange { how, negated: false, d, p: NO_REG, a, b, c, mask })?;
        Ok(Src::reg(d))
    }

    /// The number of the executing lane in its subgroup.
    fn lane(&mut self) -> Result<Src, Refused> {
        let lane = self.register("");
        self.emit(Op::Special { which: Special::Lane, d: lane })?;
        Ok(Src::reg(lane))
    }

    fn value_of(&self, instruction: &Instruction, id: Option<&u32>) -> Result<(Scalar, Vec<Src>), Refused> {
        let id = *id.ok_or_else(|| instruction.refused("it lacks an operand"))?;
        Ok((self.scalar_type(id, instruction)?, self.parts(id, instruction)?))
    }

    fn exchange(&mut self, instruction: &Instruction, how: Exchange, operands: &[u32]) -> Result<(), Refused> {
        let (_, parts) = self.value_of(instruction, operands.first())?;
        let is_first =
            matches!(instruction.op, Opcode::GroupNonUniformBroadcastFirst | Opcode::SubgroupFirstInvocationKHR);
        let b = match operands.get(1) {
            Some(&lane) if !is_first => self.scalar(lane, instruction)?,
            _ => self.constant(0),
        };
        self.exchange_all(instruction, how, parts, b)
    }

    /// What the four lanes of a quad do together: neighbours in the subgroup, of which two are a row.
    fn of_quad(&mut self, instruction: &Instruction, operands: &[u32]) -> Result<(), Refused> {
        if self.shape.subgroup < 4 {
            return Err(instruction.refused(format!("a subgroup of {} has no quads", self.shape.subgroup)));
        }
        let (_, parts) = self.value_of(instruction, operands.first())?;
        let which = *operands.get(1).ok_or_else(|| instruction.refused("it lacks an operand"))?;
        let which = self.scalar(which, instruction)?;
        // A broadcast names a lane of the quad; a swap is with the lane beside (0), above (1) or across (2).
        let (how, b) = match instruction.op {
            Opcode::GroupNonUniformQuadSwap => (Exchange::Butterfly, self.one(|direction| direction + 1, which)?),
            _ => {
                let lane = self.lane()?;
                (Exchange::Index, self.two(|lane, which| lane & !3 | which & 3, lane, which)?)
            }
        };
        self.exchange_all(instruction, how, parts, b)
    }

    /// An exchange of each part of a value.
    fn exchange_all(
        &mut self,
        instruction: &Instruction,
        how: Exchange,
        parts: Vec<Src>,
        b: Src,
    ) -> Result<(), Refused> {
        let without_source = self.without_source(how, b)?;
        let mut results = Vec::new();
        for a in parts {
            let result = self.meet(how, a, b)?;
            results.push(self.unless(without_source, result)?);
        }
        self.set_parts(instruction, results)
    }

    /// A reduction or a scan: the operation, the value, and for clusters their size.
    fn combine(&mut self, instruction: &Instruction, by: Combiner, operands: &[u32]) -> Result<(), Refused> {
        let (&operation, operands) =
            operands.split_first().ok_or_else(|| instruction.refused("it lacks an operand"))?;
        let of = match GroupOperation::from_u32(operation) {
            Some(GroupOperation::Reduce) => CombinedLanes::All,
            Some(GroupOperation::InclusiveScan) => CombinedLanes::UpTo,
            Some(GroupOperation::ExclusiveScan) => CombinedLanes::Before,
            Some(GroupOperation::ClusteredReduce) => {
                let size = *operands.get(1).ok_or_else(|| instruction.refused("it lacks the size of its clusters"))?;
                let size = self.known_scalar(size, instruction)?;
                if !size.is_power_of_two() || size > u64::from(self.shape.subgroup) {
                    // "… behavior is undefined if ClusterSize is greater than the size of the scope" (SPIR-V 1.6).
                    return Err(
                        instruction.refused(format!("a subgroup of {} has no clusters of {size}", self.shape.subgroup))
                    );
                }
                CombinedLanes::Cluster(size as u32)
            }
            _ => return Err(instruction.refused("this operation of a group is not supported")),
        };
        let (ty, parts) = self.value_of(instruction, operands.first())?;
        let is_float = matches!(by, Combiner::AddFloat | Combiner::MinFloat | Combiner::MaxFloat);
        if is_float != (ty.kind == Kind::Float) || is_float && ty.bits != 32 {
            return Err(instruction.refused(format!("operations of a subgroup on {} bits are not supported", ty.bits)));
        }
        let how = Exchange::Combine(Combine { by, bits: ty.bits as u8, of });
        let zero = self.constant(0);
        let results = parts.into_iter().map(|a| self.meet(how, a, zero)).collect::<Result<_, _>>()?;
        self.set_parts(instruction, results)
    }

    fn all_equal(&mut self, instruction: &Instruction, operands: &[u32]) -> Result<(), Refused> {
        let (ty, parts) = self.value_of(instruction, operands.first())?;
        if ty.kind == Kind::Float {
            return Err(instruction.refused("whether floats of a subgroup are equal is not supported"));
        }
        let mut all = self.constant(1);
        for a in parts {
            let (mask, zero, p) = (self.constant(self.lanes()), self.constant(0), self.register(""));
            let how = Exchange::Match(Match::All);
            self.emit(Op::Exchange { how, negated: false, d: NO_REG, p, a, b: zero, c: zero, mask })?;
            all = self.two(|all, one| all & one, all, Src::reg(p))?;
        }
        self.set_parts(instruction, vec![all])
    }

    /// The words of a ballot that have lanes.
    fn words(&self) -> usize {
        (self.shape.subgroup.div_ceil(32) as usize).clamp(1, WORDS)
    }

    fn ballot(&mut self, instruction: &Instruction, operands: &[u32]) -> Result<(), Refused> {
        let (_, parts) = self.value_of(instruction, operands.first())?;
        let &[a] = parts.as_slice() else { return Err(instruction.refused("a ballot is of one truth value")) };
        let mut results = Vec::new();
        for word in 0..WORDS {
            let number = self.constant(word as u64);
            let has_lanes = word < self.words();
            results.push(if has_lanes {
                self.meet(Exchange::Vote(Vote::Ballot), a, number)?
            } else {
                self.constant(0)
            });
        }
        self.set_parts(instruction, results)
    }

    /// What is asked of a ballot's words.
    fn of_ballot(&mut self, instruction: &Instruction, operands: &[u32]) -> Result<(), Refused> {
        let counts = instruction.op == Opcode::GroupNonUniformBallotBitCount;
        let operation = operands.first().copied().filter(|_| counts);
        let (_, words) = self.value_of(instruction, operands.get(usize::from(counts)))?;
        if words.len() != WORDS {
            return Err(instruction.refused("a ballot is a vector of four words"));
        }
        let (lane, size) = (self.lane()?, self.shape.subgroup.into());
        // The lanes that are looked at: from 0 to this one.
        let end = match (instruction.op, operation.and_then(GroupOperation::from_u32)) {
            (_, Some(GroupOperation::InclusiveScan)) => self.one(|lane| lane + 1, lane)?,
            (_, Some(GroupOperation::ExclusiveScan)) => lane,
            (Opcode::GroupNonUniformBallotBitCount, Some(GroupOperation::Reduce)) => self.constant(size),
            (Opcode::GroupNonUniformBallotBitCount, _) => {
                return Err(instruction.refused("this operation of a group is not supported"));
            }
            (Opcode::GroupNonUniformInverseBallot, _) => lane,
            (Opcode::GroupNonUniformBallotBitExtract, _) => {
                let index = *operands.get(1).ok_or_else(|| instruction.refused("it lacks an operand"))?;
                self.scalar(index, instruction)?
            }
            _ => self.constant(size),
        };
        let low = self.three(|low, high, _| low & 0xFFFF_FFFF | high << 32, words[0], words[1], words[0])?;
        let high = self.three(|low, high, _| low & 0xFFFF_FFFF | high << 32, words[2], words[3], words[2])?;
        let f = match instruction.op {
            Opcode::GroupNonUniformInverseBallot | Opcode::GroupNonUniformBallotBitExtract => {
                |low, high, at| (wide(low, high).checked_shr(at as u32).unwrap_or(0) & 1) as u64
            }
            Opcode::GroupNonUniformBallotFindLSB => {
                |low, high, end| u64::from((wide(low, high) & below(end)).trailing_zeros())
            }
            Opcode::GroupNonUniformBallotFindMSB => |low, high, end| {
                let bits = wide(low, high) & below(end);
                u64::from(127u32.wrapping_sub(bits.leading_zeros()))
            },
            _ => |low: u64, high: u64, end: u64| u64::from((wide(low, high) & below(end)).count_ones()),
        };
        let result = self.three(f, low, high, end)?;
        // Which lane is the first of none is left open, and so is a bit beyond the lanes.
        let is_open = match instruction.op {
            Opcode::GroupNonUniformBallotFindLSB | Opcode::GroupNonUniformBallotFindMSB => {
                self.three(|low, high, end| u64::from(wide(low, high) & below(end) == 0), low, high, end)?
            }
            Opcode::GroupNonUniformBallotBitExtract => {
                let size = self.constant(size);
                self.two(|at, size| u64::from(at >= size), end, size)?
            }
            _ => self.constant(0),
        };
        let result = self.unless(is_open, result)?;
        self.set_parts(instruction, vec![result])
    }

    /// Whether a shuffle is from a lane beyond the subgroup: "the resulting value is undefined" (SPIR-V 1.6,
    /// "OpGroupNonUniformShuffle" and those after it).
    fn without_source(&mut self, how: Exchange, operand: Src) -> Result<Src, Refused> {
        let beyond: fn(u64, u64, u64) -> u64 = match how {
            Exchange::Up => |lane, delta, _| (delta > lane).into(),
            Exchange::Down => |lane, delta, size| (lane + delta >= size).into(),
            Exchange::Butterfly => |lane, mask, size| (lane ^ mask >= size).into(),
            Exchange::Index => |_, source, size| (source >= size).into(),
            Exchange::Vote(_) | Exchange::Match(_) | Exchange::Combine(_) | Exchange::Elect | Exchange::Barrier => {
                return Ok(self.constant(0));
            }
        };
        let (lane, size) = (self.lane()?, self.constant(self.shape.subgroup.into()));
        self.three(beyond, lane, operand, size)
    }

    /// The mask of the lanes of a subgroup.
    fn lanes(&self) -> u64 {
        u64::MAX >> (64 - self.shape.subgroup.clamp(1, 64))
    }
}

/// The 128 bits of a ballot.
fn wide(low: u64, high: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// The mask of the bits below the bit of this number.
fn below(end: u64) -> u128 {
    1u128.checked_shl(end.min(128) as u32).map_or(u128::MAX, |bit| bit - 1)
}

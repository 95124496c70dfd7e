//! Code that computes a kernel's function over the values that its reads can return.

use std::collections::BTreeSet;

use crate::ids::RegisterId;
use crate::program::{Instruction, Operand, Operator, Update};

/// The maximum number of combinations of values in a table.
const MOST_ENTRIES: usize = 64;

/// A register with the values that it can hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Variable {
    pub register: RegisterId,
    pub values: Vec<u64>,
}

/// All combinations of values, the last variable's changing fastest; `None` if they are more than `most`.
pub(super) fn combinations(variables: &[Variable], most: usize) -> Option<Vec<Vec<u64>>> {
    let mut all = vec![Vec::new()];
    for variable in variables {
        if all.len() * variable.values.len() > most {
            return None;
        }
        all = all
            .into_iter()
            .flat_map(|begun: Vec<u64>| {
                variable.values.iter().map(move |&value| begun.iter().copied().chain([value]).collect())
            })
            .collect();
    }
    Some(all)
}

/// Code for a function of variables that is given by its values, and the operand that holds the result; `None` if it
/// would be too long. Registers from `temporary` on are free. The result depends on each of the variables.
pub(super) fn compute(
    variables: &[Variable],
    points: &[Vec<u64>],
    results: &[u64],
    temporary: RegisterId,
) -> Option<(Vec<Instruction>, Operand)> {
    sum(variables, points, results, temporary).or_else(|| table(variables, points, results, temporary))
}

/// Code of the form `constant ± r0 ± r1 …`, if the function has it.
fn sum(
    variables: &[Variable],
    points: &[Vec<u64>],
    results: &[u64],
    temporary: RegisterId,
) -> Option<(Vec<Instruction>, Operand)> {
    let (first, base) = (points.first()?, *results.first()?);
    let mut negative = Vec::new();
    for (at, variable) in variables.iter().enumerate() {
        let Some(&other) = variable.values.get(1) else {
            negative.push(false);
            continue;
        };
        let moved = points.iter().position(|point| {
            point[at] == other && point.iter().zip(first).enumerate().all(|(i, (a, b))| i == at || a == b)
        })?;
        let (by, to) = (other.wrapping_sub(first[at]), results[moved].wrapping_sub(base));
        negative.push(match to {
            to if to == by => false,
            to if to == by.wrapping_neg() => true,
            _ => return None,
        });
    }
    let apply =
        |point: &[u64]| {
            point.iter().zip(&negative).fold(0u64, |sum, (&value, &negative)| {
                if negative { sum.wrapping_sub(value) } else { sum.wrapping_add(value) }
            })
        };
    let constant = base.wrapping_sub(apply(first));
    if points.iter().zip(results).any(|(point, &result)| apply(point).wrapping_add(constant) != result) {
        return None;
    }
    let mut code = Vec::new();
    let mut so_far = Operand::Constant(constant);
    for (variable, &negative) in variables.iter().zip(&negative) {
        let right = Operand::Register(variable.register);
        so_far = match (so_far, negative) {
            (Operand::Constant(0), false) => right,
            (Operand::Constant(constant), false) => {
                code.push(step(Operator::Add, temporary, right, Operand::Constant(constant)));
                Operand::Register(temporary)
            }
            (left, negative) => {
                let operator = if negative { Operator::Sub } else { Operator::Add };
                code.push(step(operator, temporary, left, right));
                Operand::Register(temporary)
            }
        };
    }
    Some((code, so_far))
}

/// Code for a sum over all points: the result at a point, if the variables have its values.
fn table(
    variables: &[Variable],
    points: &[Vec<u64>],
    results: &[u64],
    temporary: RegisterId,
) -> Option<(Vec<Instruction>, Operand)> {
    if points.len() > MOST_ENTRIES {
        return None;
    }
    let (total, differs, other) = (temporary, temporary + 1, temporary + 2);
    let mut code = vec![Instruction::Move { to: total, value: Operand::Constant(0) }];
    for (point, &result) in points.iter().zip(results) {
        for (at, (variable, &value)) in variables.iter().zip(point).enumerate() {
            let to = if at == 0 { differs } else { other };
            code.push(step(Operator::Xor, to, Operand::Register(variable.register), Operand::Constant(value)));
            if at > 0 {
                code.push(step(Operator::Or, differs, Operand::Register(differs), Operand::Register(other)));
            }
        }
        // The highest bit of a number or of its negative is set unless it is 0.
        code.push(step(Operator::Sub, other, Operand::Constant(0), Operand::Register(differs)));
        code.push(step(Operator::Or, differs, Operand::Register(differs), Operand::Register(other)));
        code.push(step(Operator::Shr, differs, Operand::Register(differs), Operand::Constant(63)));
        code.push(step(Operator::Xor, differs, Operand::Register(differs), Operand::Constant(1)));
        code.push(step(Operator::Mul, differs, Operand::Register(differs), Operand::Constant(result)));
        code.push(step(Operator::Add, total, Operand::Register(total), Operand::Register(differs)));
    }
    Some((code, Operand::Register(total)))
}

fn step(operator: Operator, to: RegisterId, left: Operand, right: Operand) -> Instruction {
    Instruction::Compute { operator, to, left, right }
}

/// The registers that an instruction names.
pub(super) fn named(instruction: &Instruction) -> BTreeSet<RegisterId> {
    let mut operands = Vec::new();
    let mut written = None;
    match *instruction {
        Instruction::Load { to, .. } => written = Some(to),
        Instruction::Store { value, .. } => operands.push(value),
        Instruction::Update { result, update, .. } => {
            written = result;
            match update {
                Update::Apply(_, operand) => operands.push(operand),
                Update::CompareExchange { expected, desired } => operands.extend([expected, desired]),
            }
        }
        Instruction::Barrier { resource, quorum, .. } => operands.extend(resource.into_iter().chain(quorum)),
        Instruction::Move { to, value } => {
            written = Some(to);
            operands.push(value);
        }
        Instruction::Compute { to, left, right, .. } => {
            written = Some(to);
            operands.extend([left, right]);
        }
        Instruction::Branch { left, right, .. } => operands.extend([left, right]),
        Instruction::Fence(_) | Instruction::Goto(_) => {}
    }
    let register = |operand: Operand| match operand {
        Operand::Register(register) => Some(register),
        Operand::Constant(_) => None,
    };
    operands.into_iter().filter_map(register).chain(written).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs instructions without jumps on the registers.
    fn run(code: &[Instruction], registers: &mut [u64]) {
        let value = |registers: &[u64], operand: Operand| match operand {
            Operand::Register(register) => registers[register],
            Operand::Constant(constant) => constant,
        };
        for instruction in code {
            match *instruction {
                Instruction::Move { to, value: from } => registers[to] = value(registers, from),
                Instruction::Compute { operator, to, left, right } => {
                    registers[to] = operator.apply(value(registers, left), value(registers, right)).unwrap();
                }
                _ => unreachable!(),
            }
        }
    }

    fn agrees(variables: &[Variable], f: impl Fn(&[u64]) -> u64) -> usize {
        let points = combinations(variables, 4096).unwrap();
        let results: Vec<u64> = points.iter().map(|point| f(point)).collect();
        let (code, result) = compute(variables, &points, &results, 5).unwrap();
        for (point, &wanted) in points.iter().zip(&results) {
            let mut registers = [77; 8];
            variables.iter().zip(point).for_each(|(variable, &value)| registers[variable.register] = value);
            run(&code, &mut registers);
            let got = match result {
                Operand::Register(register) => registers[register],
                Operand::Constant(constant) => constant,
            };
            assert_eq!(got, wanted, "at {point:?}");
        }
        code.len()
    }

    #[test]
    fn sums_are_sums_and_the_rest_is_a_table() {
        let x = Variable { register: 0, values: vec![0, 1, 42] };
        let y = Variable { register: 3, values: vec![5, u64::MAX] };
        assert_eq!(agrees(std::slice::from_ref(&x), |v| v[0]), 0);
        assert_eq!(agrees(std::slice::from_ref(&x), |v| v[0] + 7), 1);
        assert_eq!(agrees(&[x.clone(), y.clone()], |v| v[0].wrapping_sub(v[1]).wrapping_add(3)), 2);
        assert!(agrees(std::slice::from_ref(&x), |v| u64::from(v[0] == 1)) > 3);
        assert!(agrees(&[x, y], |v| v[0].wrapping_mul(v[1])) > 3);
    }
}

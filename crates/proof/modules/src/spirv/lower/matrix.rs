//! Products of matrices and vectors. A matrix is its columns, one behind the other.

use rspirv::spirv::Op as Opcode;

use super::Lowering;
use crate::code::{Bin, Src};
use crate::refused::Refused;
use crate::spirv::arithmetic::{self, Meaning};
use crate::spirv::instruction::{Id, Instruction};
use crate::spirv::types::{Scalar, Type};

/// The parts of a matrix, by columns.
struct Matrix {
    columns: Vec<Vec<Src>>,
    rows: usize,
    of: Scalar,
}

impl Matrix {
    fn row(&self, row: usize) -> Vec<Src> {
        self.columns.iter().map(|column| column[row]).collect()
    }
}

impl Lowering<'_> {
    /// An operation on matrices, each product and sum rounded: one of the results that the specification permits.
    pub(super) fn of_matrices(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let first = instruction.operand(0)?;
        let parts = match instruction.op {
            Opcode::Transpose => {
                let matrix = self.matrix(first, instruction)?;
                (0..matrix.rows).flat_map(|row| matrix.row(row)).collect()
            }
            Opcode::MatrixTimesScalar => {
                let (matrix, factor) =
                    (self.matrix(first, instruction)?, self.scalar(instruction.operand(1)?, instruction)?);
                let [_, product] = self.sum_and_product(matrix.of, instruction)?;
                let parts = matrix.columns.iter().flatten();
                parts.map(|&part| self.two(product, part, factor)).collect::<Result<_, _>>()?
            }
            Opcode::VectorTimesMatrix => {
                let (row, matrix) =
                    (self.parts(first, instruction)?, self.matrix(instruction.operand(1)?, instruction)?);
                let columns = matrix.columns.iter();
                columns.map(|column| self.inner(&row, column, matrix.of, instruction)).collect::<Result<_, _>>()?
            }
            Opcode::MatrixTimesVector => {
                let (matrix, column) =
                    (self.matrix(first, instruction)?, self.parts(instruction.operand(1)?, instruction)?);
                self.column(&matrix, &column, instruction)?
            }
            Opcode::MatrixTimesMatrix => {
                let (a, b) = (self.matrix(first, instruction)?, self.matrix(instruction.operand(1)?, instruction)?);
                let columns = b.columns.iter().map(|column| self.column(&a, column, instruction));
                columns.collect::<Result<Vec<_>, _>>()?.concat()
            }
            Opcode::OuterProduct => {
                let (column, row) =
                    (self.parts(first, instruction)?, self.parts(instruction.operand(1)?, instruction)?);
                let [_, product] = self.sum_and_product(self.scalar_type(first, instruction)?, instruction)?;
                let both = row.iter().flat_map(|&factor| column.iter().map(move |&part| (part, factor)));
                both.map(|(part, factor)| self.two(product, part, factor)).collect::<Result<_, _>>()?
            }
            _ => return Err(self.not_supported(instruction)),
        };
        self.set_parts(instruction, parts)
    }

    /// A matrix by a column.
    fn column(&mut self, matrix: &Matrix, column: &[Src], by: &Instruction) -> Result<Vec<Src>, Refused> {
        (0..matrix.rows).map(|row| self.inner(&matrix.row(row), column, matrix.of, by)).collect()
    }

    fn inner(&mut self, a: &[Src], b: &[Src], of: Scalar, by: &Instruction) -> Result<Src, Refused> {
        if a.len() != b.len() {
            return Err(by.refused("its operands do not fit each other"));
        }
        let operations = self.sum_and_product(of, by)?;
        self.product_sum(operations, a, b)?.ok_or_else(|| by.refused("the vectors have no parts"))
    }

    pub(super) fn sum_and_product(&self, of: Scalar, by: &Instruction) -> Result<[Bin; 2], Refused> {
        let meaning = |op| match arithmetic::meaning(op, of) {
            Some(Meaning::Two(f)) => Ok(f),
            Some(Meaning::One(_) | Meaning::Three(_)) | None => Err(self.not_supported(by)),
        };
        Ok([meaning(Opcode::FAdd)?, meaning(Opcode::FMul)?])
    }

    fn matrix(&self, id: Id, by: &Instruction) -> Result<Matrix, Refused> {
        let column = match self.types.get(self.type_of(id, by)?) {
            Some(Type::Many { of, .. }) => Some(*of),
            _ => None,
        };
        let column = column.ok_or_else(|| by.refused(format!("`%{}` is no matrix", self.module.name(id))))?;
        let of = self.types.scalar(column).ok_or_else(|| by.refused("the columns are no vectors"))?;
        let rows = self.types.parts(column).unwrap_or(0) as usize;
        if rows == 0 {
            return Err(by.refused("the columns have no parts"));
        }
        let columns = self.parts(id, by)?.chunks(rows).map(<[Src]>::to_vec).collect();
        Ok(Matrix { columns, rows, of })
    }
}

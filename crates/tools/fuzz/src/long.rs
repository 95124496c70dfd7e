//! Cases with indices of 64 bits: the same kernel, as it is built of `#[kernel(wide)]`.

use wattle_ir::visit::walk_mut;
use wattle_ir::{Expr, ExprId, Place, Type};

use crate::Case;

impl Case {
    /// Makes every other index of a view one of 64 bits, and where the launch `is_long`, that is where it may have 2³²
    /// elements or more, the extents of views too.
    #[must_use]
    pub fn with_long_indices(mut self, is_long: bool) -> Case {
        let kernel = &mut self.kernel;
        kernel.wide = is_long;
        let (mut exprs, mut names) = (Vec::new(), Vec::<ExprId>::new());
        let add = |exprs: &mut Vec<Expr>, expr| {
            exprs.push(expr);
            ExprId(exprs.len() as u32 - 1)
        };
        for &(mut expr) in &kernel.exprs {
            expr.operands_mut().for_each(|id| *id = names[id.index()]);
            let mut name = add(&mut exprs, expr);
            if is_long && matches!(expr, Expr::Extent(Place::Param(_), _)) {
                name = add(&mut exprs, Expr::Cast(Type::U32, name));
            }
            names.push(name);
        }
        let mut count = 0u32;
        walk_mut(&mut kernel.body, &mut |stmt| {
            stmt.operands_mut().for_each(|id| *id = names[id.index()]);
            if !matches!(stmt.place(), Some(Place::Param(_))) {
                return;
            }
            for at in stmt.index_mut().into_iter().flatten() {
                count += 1;
                if count.is_multiple_of(2) {
                    *at = add(&mut exprs, Expr::Cast(Type::U64, *at));
                }
            }
        });
        kernel.exprs = exprs;
        self
    }
}

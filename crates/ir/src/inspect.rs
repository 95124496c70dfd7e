//! What a verified kernel is made of, for code generators.

use rustc_hash::FxHashSet;
use wattle_memory::{Classes, Scope};

use crate::visit::Meeting;
use crate::{
    Builtin, Const, DeviceProperty, Expr, ExprId, Kernel, LocalId, ParamId, ParamKind, Place, SharedId, Site, Stmt,
    Type,
};

impl Kernel {
    /// The type of each expression. The kernel has been verified.
    pub fn expr_types(&self) -> Vec<Type> {
        let mut types = Vec::with_capacity(self.exprs.len());
        for expr in &self.exprs {
            // The verifier has seen that each has a type.
            let ty = self.type_of(expr, &types).unwrap_or(Type::U32);
            types.push(ty);
        }
        types
    }

    /// The constant that an expression is; `None` of any other expression.
    pub(crate) fn constant(&self, id: ExprId) -> Option<Const> {
        match self.exprs[id.index()] {
            Expr::Const(constant) => Some(constant),
            _ => None,
        }
    }

    /// The type of a place's elements.
    pub fn element_of(&self, place: Place) -> Type {
        match place {
            Place::Param(id) => match self.params[id.index()].kind {
                ParamKind::Scalar(ty) | ParamKind::View { element: ty, .. } => ty,
            },
            Place::Shared(id) => self.shared[id.index()].element,
            Place::Local(id) => self.locals[id.index()].element,
        }
    }

    /// The line at which the kernel first uses its warp, by an operation or by a number that depends on the warp's
    /// size; `None` if it does not.
    pub fn first_use_of_warps(&self) -> Option<Site> {
        let mut first = None;
        let mut at = self.site;
        // An expression that was seen before has no such number in it, or the walk had ended.
        let mut seen = FxHashSet::default();
        let mut by_number = |id: &ExprId| {
            let mut found = false;
            self.walk_expr(*id, &mut |id, expr| {
                found |= matches!(
                    expr,
                    Expr::Builtin(
                        Builtin::WarpSize
                            | Builtin::Lane
                            | Builtin::WarpInBlock
                            | Builtin::Device(DeviceProperty::WarpSize),
                        _
                    )
                );
                !found && seen.insert(id)
            });
            found
        };
        self.walk(&mut |stmt| {
            at = stmt.site().unwrap_or(at);
            if first.is_none() && (stmt.meeting() == Some(Meeting::Warp) || stmt.operands().any(&mut by_number)) {
                first = Some(at);
            }
        });
        first
    }

    /// The line at which the kernel first uses a short form of a function, whose bits differ between devices; `None` if
    /// it does not.
    pub fn first_short_form(&self) -> Option<Site> {
        let (mut first, mut at) = (None, self.site);
        let mut seen = FxHashSet::default();
        let mut is_short = |id: &ExprId| {
            let mut found = false;
            self.walk_expr(*id, &mut |id, expr| {
                found |= matches!(expr, Expr::Unary(op, _) if op.is_fast());
                found |= matches!(expr, Expr::Binary(op, ..) if op.is_fast());
                !found && seen.insert(id)
            });
            found
        };
        self.walk(&mut |stmt| {
            at = stmt.site().unwrap_or(at);
            if first.is_none() && stmt.operands().any(&mut is_short) {
                first = Some(at);
            }
        });
        first
    }

    /// The place whose extents and address a place has: that of the first number, where elements have several.
    pub fn whole(&self, place: Place) -> Place {
        match place {
            Place::Param(id) => Place::Param(self.first_of(id)),
            Place::Shared(id) => Place::Shared(self.shared[id.index()].field.map_or(id, |field| field.first)),
            Place::Local(_) => place,
        }
    }

    /// Whether a place is one of several numbers of its elements.
    pub fn is_field(&self, place: Place) -> bool {
        match place {
            Place::Param(id) => self.params[id.index()].field.is_some(),
            Place::Shared(id) => self.shared[id.index()].field.is_some(),
            Place::Local(_) => false,
        }
    }

    /// The parameter of the first number of the elements of which a parameter is a number.
    pub fn first_of(&self, id: ParamId) -> ParamId {
        self.params[id.index()].field.map_or(id, |field| field.first)
    }

    /// The widest scope that the kernel's fences and atomics use; block scope where it has none.
    pub fn widest_scope(&self) -> Scope {
        let mut widest = Scope::Block;
        self.walk(&mut |stmt| widest = widest.max(stmt.scope().unwrap_or(Scope::Block)));
        widest
    }

    /// Whether some loop has no bound, so that it polls now and then whether the launch is to end.
    pub fn has_unbounded_loop(&self) -> bool {
        let mut found = false;
        self.walk(&mut |stmt| found |= matches!(stmt, Stmt::Loop { bounded: false, .. }));
        found
    }
}

impl Place {
    /// The place of a further number of the same elements, counted from this one's.
    #[must_use]
    pub(crate) fn field(self, number: usize) -> Place {
        let number = number as u32;
        match self {
            Place::Param(ParamId(first)) => Place::Param(ParamId(first + number)),
            Place::Shared(SharedId(first)) => Place::Shared(SharedId(first + number)),
            Place::Local(LocalId(first)) => Place::Local(LocalId(first + number)),
        }
    }

    /// The storage class of the memory that it names, as the lowering table distinguishes them.
    pub fn memory_class(self) -> Classes {
        match self {
            Place::Shared(_) => Classes::BLOCK,
            Place::Param(_) | Place::Local(_) => Classes::BUFFER,
        }
    }
}

/// A name with all but ASCII letters and digits replaced by `_`, which every target accepts as an identifier's rest.
pub fn plain_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

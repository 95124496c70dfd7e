//! The widths of indices while a kernel is built: which of those that are `u64` in the source are computed with 32
//! bits.

use super::{Builder, IndexWidth, Val};
use crate::{Expr, ExprId, IndexWord, Place, Site, Type, VerifyError};

/// The defect of a function with indices of `u32` that asks how long a view is which may have 2³² elements.
const LEN_OF_LONG: &str = "a device function counts the elements of a view with `u32`, and the launch's may have 2^32 or more: \
                           write `#[device_fn(wide)]`, with indices of `u64`";

/// The defect of a function with indices of `u32` that counts the threads of a grid which may have 2³² or more.
const THREADS_OF_LONG: &str = "a device function counts the grid's threads or warps with `u32`, and the launch may have 2^32 or \
                               more: write `#[device_fn(wide)]`, with indices of `u64`";

impl Builder {
    pub(crate) fn width(&self) -> IndexWidth {
        self.state.borrow().width
    }

    /// The expression of type `u32` that a `u64` was made of, in a kernel whose launches have extents of 32 bits.
    pub(crate) fn as_word(&self, id: ExprId) -> Option<ExprId> {
        if self.width() != IndexWidth::Fitting {
            return None;
        }
        match self.expr(id) {
            Expr::Const(constant) if constant.ty == Type::U64 => {
                u32::try_from(constant.raw).ok().map(|raw| self.lit(raw).id)
            }
            Expr::Cast(Type::U64, from) if self.state.borrow().types[from.index()] == Type::U32 => Some(from),
            _ => None,
        }
    }

    /// Makes it a defect if numbers of this type may not count the threads of the grid.
    #[track_caller]
    pub(crate) fn counts_threads<W: IndexWord>(&self) {
        if W::TYPE == Type::U32 && self.width() == IndexWidth::Long {
            self.defect(THREADS_OF_LONG);
        }
    }

    /// Records what is wrong with the kernel, unless something was found before.
    #[track_caller]
    pub(super) fn defect(&self, what: &str) {
        let state = &mut *self.state.borrow_mut();
        let (kernel, at, what) = (state.kernel.name.clone(), Site::caller(), what.to_owned());
        state.defect.get_or_insert(VerifyError { kernel, at, what });
    }

    /// A number of an index as accesses have it: as short as it is known to be.
    pub(crate) fn index_of<W: IndexWord>(&self, value: Val<'_, W>) -> ExprId {
        self.as_word(value.id).unwrap_or(value.id)
    }

    /// A number of an index into an array of the thread's own, which is shorter: any beyond 32 bits is the greatest of
    /// those.
    pub(crate) fn word_of<'b>(&'b self, value: Val<'b, u64>) -> Val<'b, u32> {
        match self.as_word(value.id) {
            Some(word) => Val::new(self, word),
            None => value.min(self.lit(u64::from(u32::MAX))).cast(),
        }
    }

    /// The extent of a place in one dimension.
    #[track_caller]
    pub(crate) fn extent_of<W: IndexWord>(&self, place: Place, dimension: u8) -> Val<'_, W> {
        let extent = Expr::Extent(place, dimension);
        let ty = self.state.borrow().kernel.extent_type(place);
        match (ty == Type::U64, W::TYPE == Type::U64) {
            (true, true) | (false, false) => self.val(extent),
            (false, true) => self.val::<u32>(extent).cast(),
            (true, false) => {
                self.defect(LEN_OF_LONG);
                self.val::<u64>(extent).cast()
            }
        }
    }
}

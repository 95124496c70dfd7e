//! Finds out which features a device lacks, before anything is built.

use rustc_hash::FxHashSet;
use wattle_ir::{AtomicOp, ExprId, Kernel, Param, ParamKind, Place, Site, Stmt, Type};
use wattle_memory::Scope;

use crate::features::{Features, Lacking, needs};

/// The types that a kernel's code needs.
pub fn types_of(kernel: &Kernel) -> FxHashSet<Type> {
    let mut used = FxHashSet::default();
    used.extend(kernel.expr_types());
    used.extend(kernel.slots.iter().map(|slot| slot.ty));
    used.extend(kernel.locals.iter().map(|array| array.element));
    used.extend(kernel.shared.iter().map(|array| array.element));
    used.extend(kernel.params.iter().map(|param| match param.kind {
        ParamKind::Scalar(ty) | ParamKind::View { element: ty, .. } => ty,
    }));
    used
}

/// The features that a type needs and the device lacks.
fn missing_for(ty: Type, features: &Features) -> Option<&'static str> {
    needs(ty).filter(|needs| !(needs.has)(features)).map(|needs| needs.features)
}

/// Whether the device has all that the kernel uses.
///
/// # Errors
/// The first thing that it lacks, with its source line.
pub fn check(kernel: &Kernel, features: &Features) -> Result<(), Lacking> {
    if kernel.wide {
        let (kernel_name, site, device) = (kernel.name.clone(), kernel.site, features.device.clone());
        return Err(Lacking::Long { kernel: kernel_name, site, device });
    }
    let mut statements = Statements { kernel, features, types: kernel.expr_types(), seen: FxHashSet::default() };
    let mut found = Ok(());
    let mut at = kernel.site;
    kernel.walk(&mut |stmt| {
        at = stmt.site().unwrap_or(at);
        if found.is_ok() {
            found = statements.check(stmt, at);
        }
    });
    found?;
    // Parameters may have types that the body does not use.
    for ty in types_of(kernel) {
        check_type(kernel, features, ty, kernel.site)?;
    }
    let of_one_view = |(number, param): &(u32, &Param)| param.field.is_none_or(|field| field.first.0 == *number);
    let params = (0..).zip(&kernel.params).filter(of_one_view);
    let views = params.filter(|(_, param)| matches!(param.kind, ParamKind::View { .. })).count() as u32;
    if views > features.max_views {
        let (kernel_name, site, device) = (kernel.name.clone(), kernel.site, features.device.clone());
        return Err(Lacking::Views { kernel: kernel_name, site, views, most: features.max_views, device });
    }
    Ok(())
}

fn check_type(kernel: &Kernel, features: &Features, ty: Type, site: Site) -> Result<(), Lacking> {
    match missing_for(ty, features) {
        None => Ok(()),
        Some(feature) => {
            let (kernel, device) = (kernel.name.clone(), features.device.clone());
            Err(Lacking::Type { kernel, site, ty, feature, device })
        }
    }
}

/// What is known while the statements of a kernel are looked at.
struct Statements<'k> {
    kernel: &'k Kernel,
    features: &'k Features,
    types: Vec<Type>,
    /// The expressions whose types the device has.
    seen: FxHashSet<ExprId>,
}

impl Statements<'_> {
    /// Whether the device has all that a statement uses itself.
    fn check(&mut self, stmt: &Stmt, at: Site) -> Result<(), Lacking> {
        let Statements { kernel, features, .. } = *self;
        if stmt.scope() == Some(Scope::System) {
            return Err(Lacking::Scope { kernel: kernel.name.clone(), site: at, device: features.device.clone() });
        }
        if matches!(stmt, Stmt::Clock { .. }) && !features.device_clock && !features.subgroup_clock {
            return Err(Lacking::Clock { kernel: kernel.name.clone(), site: at, device: features.device.clone() });
        }
        for ty in self.touched(stmt) {
            check_type(kernel, features, ty, at)?;
        }
        let Some(place) = stmt.atomic_place() else { return Ok(()) };
        let ty = kernel.element_of(place);
        let (has, feature) = match place {
            Place::Param(_) => (features.buffer_int64_atomics, "shaderBufferInt64Atomics"),
            Place::Shared(_) | Place::Local(_) => (features.shared_int64_atomics, "shaderSharedInt64Atomics"),
        };
        // A sum of doubles that the device has an instruction for needs no 64-bit integers, if nothing else is done
        // there.
        let only_sums =
            ty == Type::F64 && features.adds(place, ty) && matches!(stmt, Stmt::AtomicUpdate { op: AtomicOp::Add, .. });
        if ty.size() < 8 || (has && features.int64) || only_sums {
            return Ok(());
        }
        let (kernel, device) = (kernel.name.clone(), features.device.clone());
        Err(Lacking::Atomic { kernel, site: at, ty, feature, device })
    }

    /// The types that a statement touches itself, without those nested in it, and of its expressions those that no
    /// statement before it has.
    fn touched(&mut self, stmt: &Stmt) -> Vec<Type> {
        let Statements { kernel, types, seen, .. } = self;
        let mut found = Vec::new();
        for id in stmt.operands() {
            kernel.walk_expr(*id, &mut |id, _| {
                let is_new = seen.insert(id);
                found.extend(is_new.then(|| types[id.index()]));
                is_new
            });
        }
        found.extend(stmt.place().map(|place| kernel.element_of(place)));
        found.extend(stmt.assigned().map(|slot| kernel.slots[slot.index()].ty));
        found
    }
}

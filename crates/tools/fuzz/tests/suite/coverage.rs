//! Random kernels use all of the intermediate representation, and what they do shows in their results.

use std::collections::BTreeMap;
use std::time::Duration;

use wattle_check::Simulated;
use wattle_core::Device;
use wattle_fuzz::{Case, Profile, compare, generate, is_clean, outcome, outcome_within};
use wattle_ir::{AtomicOp, BinaryOp, DivOp, Expr, ExprId, Kernel, Place, Stmt, TernaryOp, Type, UnaryOp, WarpOp};

/// The constructs of kernels, in words, and how often each occurs.
#[derive(Default)]
struct Census {
    counts: BTreeMap<String, u64>,
    types: Vec<Type>,
}

impl Census {
    fn count(&mut self, what: String) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn kernel(&mut self, kernel: &Kernel) {
        self.types.clear();
        self.count(format!("rank {}", kernel.rank));
        for param in &kernel.params {
            self.count(format!("param {:?}", param.kind));
            if let Some(field) = param.field {
                let way = if field.path.starts_with('.') { "struct" } else { "array" };
                self.count(format!("{way} of {} bytes", field.size));
            }
        }
        for array in &kernel.shared {
            let sized = matches!(array.len, wattle_ir::SharedLen::AtLaunch);
            self.count(format!("shared {} atomic {} at launch {sized}", array.element, array.atomic));
        }
        for &expr in &kernel.exprs {
            let ty = self.expr(kernel, expr);
            self.types.push(ty);
        }
        self.block(kernel, &kernel.body);
    }

    fn ty(&self, id: ExprId) -> Type {
        self.types[id.index()]
    }

    fn expr(&mut self, kernel: &Kernel, expr: Expr) -> Type {
        let (what, ty) = match expr {
            Expr::Const(constant) => (format!("constant {}", constant.ty), constant.ty),
            Expr::Slot(slot) => {
                let ty = kernel.slots[slot.index()].ty;
                (format!("slot {ty}"), ty)
            }
            Expr::Param(id) => match kernel.params[id.index()].kind {
                wattle_ir::ParamKind::Scalar(ty) => (format!("scalar {ty}"), ty),
                kind => panic!("{kind:?} as a value"),
            },
            Expr::Extent(place, _) => (format!("extent {}", kind(kernel, place)), Type::U32),
            Expr::Builtin(builtin, _) => (format!("builtin {builtin:?}"), Type::U32),
            Expr::Unary(op, x) => (format!("{op:?} {}", self.ty(x)), op.result(self.ty(x)).unwrap()),
            Expr::Binary(op, x, y) => (format!("{op:?} {}", self.ty(x)), op.result(self.ty(x), self.ty(y)).unwrap()),
            Expr::Ternary(op, x, y, z) => {
                (format!("{op:?} {}", self.ty(x)), op.result(self.ty(x), self.ty(y), self.ty(z)).unwrap())
            }
            Expr::Select(_, x, _) => (format!("select {}", self.ty(x)), self.ty(x)),
            Expr::Cast(to, x) => (format!("cast {} to {to}", self.ty(x)), to),
            Expr::Bits(to, x) => (format!("bits {} to {to}", self.ty(x)), to),
        };
        self.count(what);
        ty
    }

    fn block(&mut self, kernel: &Kernel, block: &[Stmt]) {
        for stmt in block {
            let what = match stmt {
                Stmt::Assign { slot, .. } => format!("assign {}", kernel.slots[slot.index()].ty),
                Stmt::Divide { op, left, .. } => format!("divide {op:?} {}", self.ty(*left)),
                Stmt::Load { place, index, .. } => format!("load {} {}", kind(kernel, *place), index.len()),
                Stmt::LoadLanes { place, .. } => format!("lanes {}", kind(kernel, *place)),
                Stmt::Store { place, index, .. } => format!("store {} {}", kind(kernel, *place), index.len()),
                Stmt::StoreLanes { place, .. } => format!("store lanes {}", kind(kernel, *place)),
                Stmt::AtomicLoad { place, order, scope, .. } => {
                    format!("atomic load {} {order} {scope}", kind(kernel, *place))
                }
                Stmt::AtomicStore { place, order, scope, .. } => {
                    format!("atomic store {} {order} {scope}", kind(kernel, *place))
                }
                Stmt::AtomicUpdate { place, op, operand, order, scope, .. } => {
                    self.count(format!("update {op:?} {}", self.ty(*operand)));
                    format!("update {} {order} {scope}", kind(kernel, *place))
                }
                Stmt::CompareExchange { place, expected, order, scope, .. } => {
                    self.count(format!("compare_exchange {}", self.ty(*expected)));
                    format!("compare_exchange {} {order} {scope}", kind(kernel, *place))
                }
                Stmt::Fence { order, scope, .. } => format!("fence {order} {scope}"),
                Stmt::Barrier { .. } => "barrier".into(),
                Stmt::Warp { op, value, .. } => format!("warp {} {}", op.name(), self.ty(*value)),
                Stmt::WarpBarrier { .. } => "warp barrier".into(),
                Stmt::If { then, otherwise, .. } => {
                    self.block(kernel, then);
                    self.block(kernel, otherwise);
                    format!("if {}", otherwise.is_empty())
                }
                Stmt::Loop { body, continuing, bounded, .. } => {
                    self.block(kernel, body);
                    self.block(kernel, continuing);
                    format!("loop {bounded}")
                }
                Stmt::Block { body, .. } => {
                    self.block(kernel, body);
                    "block".into()
                }
                Stmt::Break(_) => "break".into(),
                Stmt::Continue(_) => "continue".into(),
                Stmt::Print { .. } => "print".into(),
                Stmt::Clock { .. } => "clock".into(),
                Stmt::Return => "return".into(),
                Stmt::Assert { .. } => "assert".into(),
                Stmt::Fault { .. } => panic!("no source says a fault"),
            };
            self.count(what);
        }
    }
}

fn kind(kernel: &Kernel, place: Place) -> &'static str {
    match place {
        Place::Param(_) => "view",
        Place::Shared(_) => "shared",
        Place::Local(id) if kernel.locals[id.index()].constants.is_some() => "constants",
        Place::Local(_) => "local",
    }
}

/// All that there should be in kernels of the full profile with system scope.
fn expected() -> Vec<String> {
    let mut all = Vec::new();
    for ty in Type::ALL {
        all.extend(["constant", "slot", "scalar", "select", "assign"].map(|what| format!("{what} {ty}")));
        let unary = UnaryOp::ALL.iter().filter(|op| op.result(ty).is_some() && !op.is_fast());
        all.extend(unary.map(|op| format!("{op:?} {ty}")));
        let result = |op: BinaryOp| op.result(ty, ty).or_else(|| op.result(ty, Type::U32));
        let binary = BinaryOp::ALL.iter().filter(|op| result(**op).is_some());
        all.extend(binary.map(|op| format!("{op:?} {ty}")));
        let ternary = TernaryOp::ALL.iter().filter(|op| op.result(ty, ty, ty).is_some());
        all.extend(ternary.map(|op| format!("{op:?} {ty}")));
        for to in Type::ALL {
            if to != Type::Bool || ty == Type::Bool {
                all.push(format!("cast {ty} to {to}"));
            }
            if to.size() == ty.size() && to != Type::Bool && ty != Type::Bool {
                all.push(format!("bits {ty} to {to}"));
            }
        }
        all.extend(WarpOp::ALL.iter().filter(|op| op.applies_to(ty)).map(|op| format!("warp {} {ty}", op.name())));
        if ty.is_int() {
            all.extend([DivOp::Div, DivOp::Rem].map(|op| format!("divide {op:?} {ty}")));
        }
        all.extend(AtomicOp::ALL.iter().filter(|op| op.applies_to(ty)).map(|op| format!("update {op:?} {ty}")));
        if ty.is_atomic() {
            all.push(format!("compare_exchange {ty}"));
        }
        if ty != Type::Bool {
            for at_launch in [false, true] {
                all.push(format!("shared {ty} atomic false at launch {at_launch}"));
                if ty.is_atomic() {
                    all.push(format!("shared {ty} atomic true at launch {at_launch}"));
                }
            }
            for access in ["Read", "PerItem", "Shared", "Atomic"] {
                if access != "Atomic" || ty.is_atomic() {
                    let ranks: &[u32] = if ty == Type::U32 { &[1, 2, 3, 4] } else { &[1] };
                    let view = |rank| format!("param View {{ access: {access}, element: {ty:?}, rank: {rank} }}");
                    all.extend(ranks.iter().map(view));
                }
            }
        }
    }
    for scope in ["block", "device", "system"] {
        all.extend(["acquire", "release", "acq_rel", "seq_cst"].map(|order| format!("fence {order} {scope}")));
        for place in ["view", "shared"] {
            all.extend(["relaxed", "acquire"].map(|order| format!("atomic load {place} {order} {scope}")));
            all.extend(["relaxed", "release"].map(|order| format!("atomic store {place} {order} {scope}")));
            for order in ["relaxed", "acquire", "release", "acq_rel"] {
                all.push(format!("update {place} {order} {scope}"));
                if place == "view" {
                    all.push(format!("compare_exchange {place} {order} {scope}"));
                }
            }
        }
    }
    all.extend((1..=4).flat_map(|rank| ["load", "store"].map(|what| format!("{what} view {rank}"))));
    all.extend((1..=4).flat_map(|rank| ["load", "store"].map(|what| format!("{what} shared {rank}"))));
    let warps = ["builtin WarpSize", "builtin Lane", "builtin WarpInBlock", "warp barrier"];
    all.extend(warps.map(String::from));
    let builtins = ["ThreadInBlock", "BlockInGrid", "BlockExtent", "GridExtent", "FrameCount", "FrameExtent"];
    all.extend(builtins.map(|name| format!("builtin {name}")));
    all.extend(["view", "shared", "local", "constants"].map(|place| format!("extent {place}")));
    all.extend(["view", "shared", "local", "constants"].map(|place| format!("lanes {place}")));
    all.extend(["view", "shared"].map(|place| format!("store lanes {place}")));
    let elements = ["struct of 8", "struct of 16", "struct of 4", "array of 12", "array of 16", "array of 8"];
    all.extend(elements.map(|element| format!("{element} bytes")));
    all.extend((1..=4).map(|rank| format!("rank {rank}")));
    let rest = [
        "load constants 1",
        "load local 1",
        "store local 1",
        "barrier",
        "if true",
        "if false",
        "loop true",
        "loop false",
        "block",
        "break",
        "continue",
        "return",
        "assert",
        "print",
    ];
    all.extend(rest.map(String::from));
    all
}

#[test]
fn a_thousand_kernels_have_all_that_there_is() {
    let mut census = Census::default();
    let profile = Profile::full().with_system_scope();
    for seed in 0..1000 {
        census.kernel(&generate(seed, &profile).kernel);
    }
    let missing: Vec<_> = expected().into_iter().filter(|what| !census.counts.contains_key(what)).collect();
    assert!(missing.is_empty(), "missing: {missing:#?}");
}

#[test]
fn a_narrow_profile_has_narrow_types_alone() {
    let mut census = Census::default();
    for seed in 0..300 {
        census.kernel(&generate(seed, &Profile::narrow()).kernel);
    }
    let wide = ["u8", "i8", "u16", "i16", "u64", "i64", "f16", "f64", "system"];
    let there: Vec<_> = census.counts.keys().filter(|what| wide.iter().any(|wide| what.contains(wide))).collect();
    assert!(there.is_empty(), "{there:?}");
}

/// The case with each expression changed by `change`, or `None` if nothing was to change.
fn changed(case: &Case, change: impl Fn(Expr) -> Option<Expr>) -> Option<Case> {
    let mut case = case.clone();
    let mut found = false;
    for expr in &mut case.kernel.exprs {
        if let Some(other) = change(*expr) {
            *expr = other;
            found = true;
        }
    }
    (found && wattle_ir::verify(&case.kernel).is_ok()).then_some(case)
}

fn swapped(expr: Expr, from: BinaryOp, to: BinaryOp) -> Option<Expr> {
    match expr {
        Expr::Binary(op, x, y) if op == from => Some(Expr::Binary(to, x, y)),
        _ => None,
    }
}

/// How many cases are changed by `change`, and how many of these end differently.
fn seen(change: impl Fn(Expr) -> Option<Expr>) -> (u32, u32) {
    let (mut all, mut seen) = (0, 0);
    for seed in 0..300 {
        let case = generate(seed, &Profile::full());
        let Some(other) = changed(&case, &change) else {
            continue;
        };
        all += 1;
        let device = Device::simulated(0);
        let right = outcome(&case, &device).unwrap();
        // What is changed may also race, or never end.
        seen += outcome_within(&other, &device, Duration::from_millis(50))
            .map_or(1, |wrong| compare(&case, &right, &wrong).is_some() as u32);
    }
    (all, seen)
}

#[test]
fn a_wrong_operator_shows_in_the_results() {
    use BinaryOp::*;
    let swaps = [(Min, Max), (Max, Min), (And, Or), (Or, Xor), (Xor, Or), (Eq, Ne), (Lt, Le), (Le, Lt), (Gt, Ge)];
    for (from, to) in swaps.into_iter().chain([(Ge, Gt), (Sub, Add), (Shl, Shr), (Shr, Shl), (Div, Mul), (Mul, Add)]) {
        let (all, seen) = seen(|expr| swapped(expr, from, to));
        println!("{from:?} as {to:?}: {seen} of {all}");
        assert!(seen >= 5, "{from:?} as {to:?} was seen in {seen} of {all} cases");
    }
}

fn without_barriers(block: &mut Vec<Stmt>) {
    block.retain(|stmt| !matches!(stmt, Stmt::Barrier { .. }));
    for stmt in block {
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                without_barriers(then);
                without_barriers(otherwise);
            }
            Stmt::Loop { body, .. } | Stmt::Block { body, .. } => without_barriers(body),
            _ => {}
        }
    }
}

#[test]
fn without_barriers_many_cases_race() {
    let mut unclean = 0;
    for seed in 0..200 {
        let mut case = generate(seed, &Profile::full());
        without_barriers(&mut case.kernel.body);
        unclean += is_clean(&case, &[1, 2]).is_err() as u32;
    }
    println!("{unclean} of 200");
    assert!(unclean >= 40, "{unclean} of 200");
}

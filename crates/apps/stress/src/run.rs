//! Runs a program once in many instances on a device, and counts what came.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use wattle_core::{
    Buffer, Device, DeviceKind, Error, ErrorKind, IntoArg, LaunchOptions, Queue, Result, ThreadSpec, interrupt,
};
use wattle_litmus::Observed;
use wattle_memory::{Scope, Target};

use crate::environment::{Environment, Random, Space, places};
use crate::generated::{Built, MOST_LOOKS, NOISE_WORDS, SHARED_INSTANCES};
use crate::interpreted::{APART, Encoded, interpret};
use crate::program::Program;
use crate::tso;

/// What a launch left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How often each outcome came, and the number of the first instance that had it.
    pub outcomes: FxHashMap<Vec<i32>, (u64, u32)>,
    /// The instances of which some thread did not come to its end: a wait that was given up.
    pub unfinished: u64,
}

impl Counts {
    /// The instances that came to their end.
    pub fn instances(&self) -> u64 {
        self.outcomes.values().map(|(count, _)| count).sum()
    }
}

/// A device with what is needed to run programs on it.
pub struct Bench {
    device: Device,
    queue: Queue,
    target: Target,
    until: Option<Instant>,
}

/// A launch that takes longer hangs.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// The instances of a launch on the host, and on a driver that computes on the host, and on a GPU.
const ON_HOST: u32 = 1 << 14;
const ON_SOFTWARE: u32 = 1024;
const ON_GPU: u32 = 1 << 16;
/// The threads of a block of a program that jumps, on a driver that computes on the host.
const LOOPING: u32 = 8;
/// The instances whose threads share blocks.
const IN_BLOCK: u32 = SHARED_INSTANCES;

impl Bench {
    /// The code of a program's kernel, as the device's compiler is given it; on the host, whose kernel interprets the
    /// program, its operations.
    pub fn code(&self, program: &Program, space: Space) -> String {
        let kernel = || Built::new(program, space);
        let built = match self.target {
            Target::Portable | Target::Host => return program.to_string(),
            Target::Ptx { sm } => {
                let module = wattle_ptx::build(kernel().kernel(), &wattle_ptx::PtxTarget::new(sm));
                module.map(|module| module.text()).map_err(|lacking| lacking.to_string())
            }
            Target::Vulkan => match wattle_spirv::build(kernel().kernel(), &wattle_spirv::Features::all()) {
                Ok(module) => wattle_spirv::disassemble(&module.words),
                Err(lacking) => Err(lacking.to_string()),
            },
        };
        built.unwrap_or_else(|error| format!("the code cannot be shown: {error}"))
    }
}

impl Bench {
    /// A bench on a device.
    ///
    /// # Errors
    /// The device cannot run programs, or gives no queue.
    pub fn new(device: &Device) -> Result<Bench> {
        let target = target(device)?;
        Ok(Bench { device: device.clone(), queue: device.queue()?, target, until: None })
    }

    /// Returns the bench with launches that end at that time; without an end if it is `None`.
    pub fn until(self, until: Option<Instant>) -> Bench {
        Bench { until, ..self }
    }

    /// Whether the time of the bench is over, or Ctrl-C has ended it.
    pub(crate) fn is_over(&self) -> bool {
        interrupt::requested() || self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// How long a launch may take.
    fn time_limit(&self) -> Duration {
        self.until.map_or(TIME_LIMIT, |until| until.saturating_duration_since(Instant::now()).min(TIME_LIMIT))
    }

    /// Returns the device that the bench runs on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The target whose column of the lowering table the device runs.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The program as the device runs it.
    pub fn adapted(&self, program: &Program) -> Program {
        if self.device.properties().scopes.contains(&Scope::System) {
            program.clone()
        } else {
            program.without_system_scope()
        }
    }

    /// Whether the device compiles the kernel of each program.
    pub(crate) fn generates(&self) -> bool {
        self.device.properties().kind != DeviceKind::Host
    }

    /// Whether a program's words may be in block shared memory.
    pub fn can_share(&self, program: &Program) -> bool {
        let bytes = u64::from(2 * 4 * IN_BLOCK) * program.words.len() as u64;
        self.generates() && program.blocks() == 1 && bytes <= self.device.properties().max_shared_memory
    }

    /// Whether there is room for blocks beside the test's.
    pub fn can_stress(&self) -> bool {
        self.generates()
    }

    /// The reason why the device can show none of these outcomes of a program, where that is known.
    pub(crate) fn out_of_reach(&self, program: &Program, outcomes: &BTreeSet<Vec<i32>>) -> Option<&'static str> {
        let reason = match self.device.properties().kind {
            // soft-cuda; a program and its mutants have the same interleavings.
            DeviceKind::Software if self.target != Target::Vulkan => {
                return Some(
                    "one thread of this stand-in executes all blocks in turn, which shows interleavings alone",
                );
            }
            DeviceKind::Host => {
                "x86-64 reorders no memory operations but a store with a later load (Intel SDM, volume 3, 8.2.2)"
            }
            DeviceKind::Software => {
                "it computes on x86-64, which reorders nothing but a store with a later load (Intel SDM, volume 3, 8.2.2)"
            }
            _ => return None,
        };
        let shown = if cfg!(target_arch = "x86_64") { tso::outcomes(program)? } else { return None };
        shown.is_disjoint(outcomes).then_some(reason)
    }

    /// A program made ready for launches.
    pub fn prepared<'p>(&self, program: &'p Program) -> Prepared<'p> {
        Prepared { program, encoded: Encoded::new(program), on_host: None, built: HashMap::new() }
    }

    /// Runs the program once, in many instances; `None` if the time of the bench was over before they had ended.
    ///
    /// # Errors
    /// What the device reports.
    pub fn launch(&self, prepared: &mut Prepared<'_>, environment: &Environment, seed: u64) -> Result<Option<Counts>> {
        let mut random = Random::new(seed);
        if self.is_over() {
            return Ok(None);
        }
        let counts = if self.generates() {
            self.on_compiler(prepared, environment, &mut random)
        } else {
            self.on_host(prepared, environment, &mut random)
        };
        match counts {
            Err(error)
                if self.is_over()
                    && matches!(error.kind(), ErrorKind::TimeLimit { .. } | ErrorKind::Interrupted { .. }) =>
            {
                Ok(None)
            }
            counts => counts.map(Some),
        }
    }

    fn on_host(&self, prepared: &mut Prepared<'_>, environment: &Environment, random: &mut Random) -> Result<Counts> {
        let (program, encoded) = (prepared.program, &prepared.encoded);
        let (blocks, threads) = (program.blocks() as u32, program.threads_per_block() as u32);
        let roles = blocks * threads;
        let sets = (self.device.properties().workers / blocks).max(1);
        let count = ON_HOST / roles.next_power_of_two() / sets * sets;
        // What a launch allocates costs it more time than its instances take, so the buffers are kept.
        let buffers = match prepared.on_host.take().filter(|kept| kept.environment == *environment) {
            Some(kept) => prepared.on_host.insert(kept),
            None => {
                prepared.on_host.insert(HostBuffers::new(&self.device, program, encoded, environment, sets, count)?)
            }
        };
        // Each block of a set takes each part in turn, from launch to launch.
        let groups = (0..sets).flat_map(|_| random.order(blocks, environment.shuffled)).collect::<Vec<_>>();
        buffers.groups.map_mut()?.copy_from_slice(&groups);
        buffers.order.map_mut()?.copy_from_slice(&random.order(count, environment.shuffled));
        buffers.delays.map_mut()?.iter_mut().for_each(|delay| *delay = random.below(environment.delay + 1));
        buffers.at.map_mut()?.fill(0);
        let (places, _) = places(environment, random, count, program.words.len() as u32);
        buffers.places.map_mut()?.copy_from_slice(&places);
        set_words(program, &places, &mut buffers.plain.map_mut()?, &mut buffers.atomic.map_mut()?);
        let kernel = interpret(
            blocks,
            count,
            program.words.len() as u32,
            program.observed.len() as u32,
            environment.batch,
            environment.patience,
            &buffers.ops,
            &buffers.roles,
            &buffers.registers,
            &buffers.results,
            &buffers.groups,
            &buffers.order,
            &buffers.places,
            &buffers.delays,
            &buffers.at,
            &buffers.noise,
            &buffers.plain,
            &buffers.atomic,
            &buffers.out,
        );
        let options = LaunchOptions::new().cooperative().time_limit(self.time_limit());
        self.queue.launch_with(options, ThreadSpec::new((sets * blocks) as usize, threads as usize), kernel)?;
        let (plain, atomic) = (buffers.plain.map()?, buffers.atomic.map()?);
        let finals = Finals { places: &places, plain: &plain, atomic: &atomic };
        Ok(counted(program, count, roles, &buffers.out.map()?, |instance, word| finals.value(program, instance, word)))
    }

    fn on_compiler(
        &self,
        prepared: &mut Prepared<'_>,
        environment: &Environment,
        random: &mut Random,
    ) -> Result<Counts> {
        let program = prepared.program;
        let built = prepared.built.entry(environment.space).or_insert_with(|| Built::new(program, environment.space));
        let properties = self.device.properties();
        let (blocks, most) = (program.blocks() as u32, program.threads_per_block() as u32);
        // lavapipe loses threads of larger blocks where fences stand in loops.
        let jumps = program.threads.iter().any(|thread| thread.code.iter().any(|(op, _)| op.target().is_some()));
        let software = properties.kind == DeviceKind::Software;
        let most_threads = if jumps && software { LOOPING } else { properties.max_threads_per_block };
        let together = IN_BLOCK.min(most_threads / most).max(1);
        let most_instances = if properties.kind == DeviceKind::Gpu { ON_GPU } else { ON_SOFTWARE };
        let sets = (most_instances / together / most / blocks.next_power_of_two()).max(1);
        let (count, in_block) = (sets * together, together * most);
        let test_blocks = sets * blocks;
        let all_blocks = test_blocks + test_blocks * environment.stress / 100;
        let memory = match environment.space {
            Space::Device => Words::new(program, environment, random, count),
            Space::Block => Words::in_blocks(program, environment, random, count, together),
        };
        let idle = program.threads.len() as u32;
        let threads = (all_blocks * in_block) as usize;
        let (mut roles, mut instances) = (vec![idle; threads], vec![0; threads]);
        // The blocks of a GPU run at once. A driver that computes on the host runs a few, one after the other, so those
        // that are to meet stand together, and their threads in the same places.
        let order = match software {
            false => random.order(all_blocks, environment.shuffled),
            true => {
                let sets = random.order(sets, environment.shuffled);
                let of_set =
                    |set| random.order(blocks, environment.shuffled).into_iter().map(move |block| set * blocks + block);
                sets.into_iter().flat_map(of_set).collect()
            }
        };
        let mut seats = Vec::new();
        for (number, &block) in order.iter().enumerate().take(test_blocks as usize) {
            let (set, group) = (number as u32 / blocks, number as u32 % blocks);
            if group == 0 {
                seats = random.order(in_block, environment.shuffled);
            }
            for (role, thread) in program.members(group as usize).into_iter().enumerate() {
                for instance in 0..together {
                    let seat = seats[(role as u32 * together + instance) as usize];
                    let at = (block * in_block + seat) as usize;
                    (roles[at], instances[at]) = (thread as u32, set * together + instance);
                }
            }
        }
        let stress = 4 * environment.delay + 64;
        let delays: Vec<u32> =
            roles.iter().map(|&role| if role == idle { stress } else { random.below(environment.delay + 1) }).collect();
        let (device, observed) = (&self.device, program.observed.len() as u32);
        let plain = device.from_slice(&memory.plain)?;
        let atomic = device.from_slice(&memory.atomic)?;
        let columns = observed + idle + program.words.len() as u32;
        let out = device.alloc_zeroed::<i32>((columns * count) as usize)?;
        let kernel = built.given((
            IntoArg::into_arg(&device.from_slice(&roles)?),
            IntoArg::into_arg(&device.from_slice(&instances)?),
            IntoArg::into_arg(&device.from_slice(&delays)?),
            IntoArg::into_arg(&device.from_slice(&memory.places)?),
            IntoArg::into_arg(&device.alloc_zeroed::<u32>(count as usize)?),
            IntoArg::into_arg(&device.alloc_zeroed::<u32>(NOISE_WORDS as usize)?),
            IntoArg::into_arg(&plain),
            IntoArg::into_arg(&atomic),
            IntoArg::into_arg(&out),
            environment.patience.min(MOST_LOOKS),
            count,
        ));
        let options = LaunchOptions::new().time_limit(self.time_limit());
        self.queue.launch_with(options, ThreadSpec::new(all_blocks as usize, in_block as usize), kernel)?;
        let out = out.read(&self.queue)?;
        match environment.space {
            Space::Block => Ok(counted(program, count, idle, &out, |instance, word| {
                out[(observed as usize + idle as usize + word) * count as usize + instance]
            })),
            Space::Device => {
                let (plain, atomic) = (plain.read(&self.queue)?, atomic.read(&self.queue)?);
                let finals = Finals { places: &memory.places, plain: &plain, atomic: &atomic };
                Ok(counted(program, count, idle, &out, |instance, word| finals.value(program, instance, word)))
            }
        }
    }
}

/// A program that is ready for launches.
pub struct Prepared<'p> {
    program: &'p Program,
    encoded: Encoded,
    on_host: Option<HostBuffers>,
    built: HashMap<Space, Built>,
}

/// The buffers of a program's launches on the host.
struct HostBuffers {
    environment: Environment,
    ops: Buffer<[u32; 8]>,
    roles: Buffer<[u32; 6]>,
    registers: Buffer<i32>,
    results: Buffer<[u32; 2]>,
    groups: Buffer<u32>,
    order: Buffer<u32>,
    places: Buffer<u32>,
    delays: Buffer<u32>,
    at: Buffer<u32>,
    noise: Buffer<u32>,
    plain: Buffer<i32>,
    atomic: Buffer<i32>,
    out: Buffer<i32>,
}

impl HostBuffers {
    fn new(
        device: &Device,
        program: &Program,
        encoded: &Encoded,
        environment: &Environment,
        sets: u32,
        count: u32,
    ) -> Result<HostBuffers> {
        let (words, blocks) = (program.words.len() as u32, sets * program.blocks() as u32);
        let roles = encoded.roles.len() as u32;
        let has = |atomic| program.words.iter().any(|word| word.atomic == atomic);
        let of =
            |atomic| device.alloc_zeroed(if has(atomic) { (count * words * environment.stride) as usize } else { 1 });
        let numbers = |count: u32| device.alloc_zeroed::<u32>(count as usize);
        Ok(HostBuffers {
            environment: *environment,
            ops: device.from_slice(&encoded.ops)?,
            roles: device.from_slice(&encoded.roles)?,
            registers: device.from_slice(&encoded.registers)?,
            results: device.from_slice(&encoded.results)?,
            groups: numbers(blocks)?,
            order: numbers(count)?,
            places: numbers(count * words)?,
            delays: numbers(count * roles)?,
            at: numbers(blocks * APART)?,
            noise: numbers(16 * (environment.delay + 1))?,
            plain: of(false)?,
            atomic: of(true)?,
            out: device.alloc_zeroed(((program.observed.len() as u32 + roles) * count) as usize)?,
        })
    }
}

/// The target of a device.
fn target(device: &Device) -> Result<Target> {
    let properties = device.properties();
    match properties.target {
        Some(Target::Host) => Ok(Target::Host),
        Some(Target::Vulkan) => Ok(Target::Vulkan),
        // Devices before sm_90 have stronger fences, and no outcome that sm_90 does not have.
        Some(Target::Ptx { .. }) => Ok(Target::Ptx { sm: 90 }),
        Some(Target::Portable) | None => {
            let instead = "take host, or a CUDA or Vulkan device; `wattle check` goes through every execution";
            Err(Error::capability(&properties.name, "be stressed: it runs one interleaving", instead))
        }
    }
}

/// The words of all instances before a launch.
struct Words {
    places: Vec<u32>,
    plain: Vec<i32>,
    atomic: Vec<i32>,
}

impl Words {
    fn new(program: &Program, environment: &Environment, random: &mut Random, instances: u32) -> Words {
        let (places, end) = places(environment, random, instances, program.words.len() as u32);
        let has = |atomic| program.words.iter().any(|word| word.atomic == atomic);
        let buffer = |atomic| vec![0; if has(atomic) { end as usize } else { 1 }];
        let (mut plain, mut atomic) = (buffer(false), buffer(true));
        set_words(program, &places, &mut plain, &mut atomic);
        Words { places, plain, atomic }
    }

    /// Words in block shared memory: those of `together` instances in each block.
    fn in_blocks(
        program: &Program,
        environment: &Environment,
        random: &mut Random,
        instances: u32,
        together: u32,
    ) -> Words {
        let narrow = Environment { stride: 1, ..*environment };
        let words = program.words.len() as u32;
        let blocks = (0..instances / together).flat_map(|_| places(&narrow, random, together, words).0);
        Words { places: blocks.collect(), plain: vec![0], atomic: vec![0] }
    }
}

/// Sets the words of all instances to their initial values, each at its place.
fn set_words(program: &Program, places: &[u32], plain: &mut [i32], atomic: &mut [i32]) {
    for instance in places.chunks_exact(program.words.len()) {
        for (word, &place) in program.words.iter().zip(instance) {
            let buffer = if word.atomic { &mut *atomic } else { &mut *plain };
            buffer[place as usize] = word.initial;
        }
    }
}

/// The words of all instances after a launch.
struct Finals<'f> {
    places: &'f [u32],
    plain: &'f [i32],
    atomic: &'f [i32],
}

impl Finals<'_> {
    fn value(&self, program: &Program, instance: usize, word: usize) -> i32 {
        let place = self.places[instance * program.words.len() + word] as usize;
        if program.words[word].atomic { self.atomic[place] } else { self.plain[place] }
    }
}

/// Counts the outcomes of `count` instances, whose results stand column by column.
fn counted(program: &Program, count: u32, roles: u32, out: &[i32], word: impl Fn(usize, usize) -> i32) -> Counts {
    let (count, observed) = (count as usize, program.observed.len());
    let mut counts = Counts::default();
    let mut outcome = vec![0; observed];
    for instance in 0..count {
        if (0..roles as usize).any(|role| out[(observed + role) * count + instance] == 0) {
            counts.unfinished += 1;
            continue;
        }
        for (column, observed) in program.observed.iter().enumerate() {
            outcome[column] = match *observed {
                Observed::Register { .. } => out[column * count + instance],
                Observed::Memory(memory) => word(instance, memory),
            };
        }
        match counts.outcomes.get_mut(&outcome) {
            Some((known, _)) => *known += 1,
            None => {
                counts.outcomes.insert(outcome.clone(), (1, instance as u32));
            }
        }
    }
    counts
}

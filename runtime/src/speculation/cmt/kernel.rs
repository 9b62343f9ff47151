//! Which kernel a job's loop is run by: all that is known of the job at its entry, and of the attempt (the module beside this one), put into what
//! a kernel is compiled for. Only known facts are used here; whether they hold is what placement, earlier runs and the check say.

use super::Job;
use super::attempt::Attempt;
use crate::abi::{
    PG_LOOP_COMMON_LOOPS, PG_LOOP_GROUPS, PG_LOOP_KEPT, PG_LOOP_MEMBERS, PG_LOOP_REPEATS, PG_LOOP_SPREADS,
    PG_LOOP_TURNS, PG_LOOP_UPDATES,
};
use crate::device::cuda::BLOCK;
use crate::device::{Device, DeviceError, Guess, LogMethod, Specialisation, collected};
use crate::speculation::parts;

/// Whether all of a job's addresses are known to lie in its arrays.
pub(super) fn needs_no_checks(job: &Job) -> bool {
    job.basis.as_ref().is_some_and(|basis| basis.has_seen(&job.placement, &job.bases))
}

/// The room that a block has for the updates that it collects.
fn rooms_for(device: &dyn Device, job: &Job, updated_alone: u64, n: u64) -> collected::Rooms {
    // What turns stage or lend lies there, too.
    let taken = if job.info.has(PG_LOOP_TURNS) { collected::OF_TURNS } else { 0 };
    let room = device.room_of_block().saturating_sub(taken);
    collected::rooms(&job.info, &job.placement.regions, &job.placement.anchors, updated_alone, room, n)
}

/// The kernel for an attempt.
pub(super) fn kernel_for(
    device: &mut dyn Device,
    job: &Job,
    attempt: Attempt,
    n: u64,
    unchecked: bool,
) -> Result<Specialisation, DeviceError> {
    let placement = &job.placement;
    // The cells of a warp are counted from any of them on.
    let has_few_cells = !attempt.method.is_bitmap() || placement.cells <= u64::from(u32::MAX) - 32;
    let narrow = n.max(parts::count(&job.info, &job.trip)) < 1 << 31 && has_few_cells;
    let updated_alone = if job.info.has(PG_LOOP_UPDATES) { placement.updated_alone(&job.info) } else { 0 };
    let rooms = rooms_for(device, job, updated_alone, n);
    let collects = rooms.bases != 0;
    // A load that a bitmap notes is nothing that iterations could share: an inner loop of a group would note 64 of them in each turn,
    // and its kernel would be compiled for minutes.
    let covered = attempt.covered(job);
    let notes_loads =
        attempt.method == LogMethod::Bitmap && placement.has_logged_readers_but(&job.info, covered);
    let has_filled = attempt.method.is_bitmap() && job.schedule.is_none() && !attempt.joined;
    let filled = if has_filled { job.filled.bases } else { 0 };
    // Where nobody notes anything it is the kernel without a log.
    let method = match filled != 0 && job.filled.is_all && !notes_loads && attempt.guess == Guess::None {
        true => LogMethod::None,
        false => attempt.method,
    };
    // Whether the iterations of a launch need not be a run of them.
    let in_any_order = job.schedule.is_none() && attempt.portion == 0 && !attempt.backwards;
    let kernel = Specialisation {
        guess: attempt.guess,
        buffered: attempt.buffered,
        backwards: attempt.backwards,
        apart: attempt.apart && attempt.buffered != 0,
        grouped: attempt.grouped,
        alone: attempt.alone,
        joined: attempt.joined,
        seams: attempt.seams,
        full: attempt.grouped || attempt.joined && notes_loads,
        gathers: method.is_bitmap() && job.info.has(PG_LOOP_MEMBERS),
        log_shift: if method == LogMethod::None { 0 } else { placement.log_shift as u8 },
        bounded: placement.bounded,
        constant: placement.kept() & placement.bounded,
        kept: if job.info.has(PG_LOOP_KEPT) || method.detects() { placement.kept() } else { 0 },
        filled,
        covered: if method == LogMethod::None { 0 } else { covered },
        repeats: method.is_bitmap() && job.info.has(PG_LOOP_REPEATS),
        ordered: job.schedule.is_some(),
        narrow,
        // A block of a tile has few iterations, and would hand over for each what it has collected.
        tile: placement.tile.filter(|_| narrow && in_any_order && !collects),
        across: placement.across.filter(|_| narrow && in_any_order && !collects),
        updated_alone,
        collects: rooms.bases,
        collects_part: rooms.part,
        collects_tell: rooms.tell,
        nameless: method.knows_iterations()
            && updated_alone != 0
            && placement.is_nameless(&job.info, updated_alone),
        // What turns stage or lend is made for blocks of one size.
        block: if collects && !job.info.has(PG_LOOP_TURNS) { collected::THREADS } else { BLOCK } as u16,
        ..Specialisation::none(method)
    };
    let bases = 1u64.checked_shl(job.info.n_bases).unwrap_or(0).wrapping_sub(1);
    let alone = notes_loads && job.info.has(PG_LOOP_COMMON_LOOPS) || kernel.repeats;
    let alone = if alone { PG_LOOP_GROUPS } else { 0 };
    // Who stands for whom lanes know by their iterations.
    let alone = if attempt.joined { PG_LOOP_GROUPS | PG_LOOP_SPREADS } else { alone };
    let flags = job.info.flags & !alone;
    let checked = kernel.in_groups(flags, job.info.n_dims, bases, n, device.threads(), job.groups);
    let checked = match &job.by_turns {
        Some(order) if order.is_of(n) => checked.sorted(order, device.threads()),
        _ => checked,
    };
    let kernel = match unchecked {
        true => {
            let inside = placement.aligned & bases & !placement.bounded;
            let constant = placement.kept() & (placement.bounded | inside);
            Specialisation { inside, constant, ..checked }
        }
        false => checked,
    };
    let kernel = device.prepare(&job.info, job.loop_key, kernel)?;
    // Ahead of the last copies: behind them it would keep the launch from being queued before they are over.
    if let Some(order) = job.by_turns.as_deref().filter(|_| kernel.sorted) {
        device.keep_order(order)?;
    }
    Ok(kernel)
}

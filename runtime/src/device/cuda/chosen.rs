//! Which of a machine's GPUs a process uses: one. Of several processes that a launcher has started on one machine (MPI's ranks, tasks of a batch system) each takes the next.
//!
//! Not here: loops that several GPUs share (`docs/several-gpus.md` has the plan), and what a launcher hides from a process by `CUDA_VISIBLE_DEVICES`, which is the driver's business: what is counted
//! here is what it leaves.

use crate::device::DeviceError;

/// Variables by which launchers tell a process which one it is among those of its machine, from 0: Open MPI, Intel MPI and MPICH (Hydra), MVAPICH, Cray's PALS, Flux, IBM's JSM; at last Slurm, which may have
/// started the launcher itself.
const LOCAL_RANKS: [&str; 8] = [
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "MVP_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID",
    "FLUX_TASK_LOCAL_ID",
    "JSM_NAMESPACE_LOCAL_RANK",
    "SLURM_LOCALID",
];

/// Which GPU a process uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Gpu {
    /// The first one.
    #[default]
    First,
    /// The one that the user has asked for, by the driver's number (`PARAGON_GPU`).
    Number(u32),
    /// The one whose turn it is, among processes that were started together: the local rank.
    InTurn(u32),
}

impl Gpu {
    /// What the environment says; `asked`: what `PARAGON_GPU` does.
    pub fn of_process(asked: Option<u32>, lookup: impl Fn(&str) -> Option<String>) -> Gpu {
        if let Some(number) = asked {
            return Gpu::Number(number);
        }
        let rank = LOCAL_RANKS.iter().find_map(|name| lookup(name)?.trim().parse().ok());
        rank.map_or(Gpu::First, Gpu::InTurn)
    }

    /// The driver's number of it; `count`: how many there are, which is asked only where it matters. A number that nobody has is an error, of which the user hears.
    pub(super) fn number(self, count: impl FnOnce() -> Result<u32, DeviceError>) -> Result<u32, DeviceError> {
        match self {
            Gpu::First | Gpu::Number(0) | Gpu::InTurn(0) => Ok(0),
            Gpu::InTurn(rank) => Ok(rank % count()?.max(1)),
            Gpu::Number(number) => {
                let count = count()?;
                if number < count {
                    return Ok(number);
                }
                let complaint =
                    format!("PARAGON_GPU={number}, but the driver has {count}, from 0; none is used");
                crate::trace::complain(&format!("paragon: {complaint}"));
                Err(DeviceError::Lost(complaint))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_were_started_together_take_turns() {
        let chosen = |asked: Option<u32>, settings: &[(&str, &str)], count: u32| {
            let lookup = |name: &str| {
                settings.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned())
            };
            Gpu::of_process(asked, lookup).number(|| Ok(count)).ok()
        };
        assert_eq!(chosen(None, &[], 4), Some(0));
        assert_eq!(chosen(None, &[("OMPI_COMM_WORLD_LOCAL_RANK", "3")], 4), Some(3));
        assert_eq!(chosen(None, &[("OMPI_COMM_WORLD_LOCAL_RANK", "6")], 4), Some(2));
        // A batch system starts one launcher, which starts the rest.
        assert_eq!(chosen(None, &[("SLURM_LOCALID", "0"), ("MPI_LOCALRANKID", "1")], 2), Some(1));
        assert_eq!(chosen(None, &[("SLURM_LOCALID", "5")], 1), Some(0));
        assert_eq!(chosen(None, &[("SLURM_LOCALID", "many"), ("PALS_LOCAL_RANKID", "")], 2), Some(0));
        // Who is asked for is nobody else.
        assert_eq!(chosen(Some(1), &[("SLURM_LOCALID", "0")], 2), Some(1));
        assert_eq!(chosen(Some(2), &[], 2), None);
        // Nobody counts for the first one.
        let asked = || Err(DeviceError::Lost("counted".into()));
        assert_eq!(Gpu::InTurn(0).number(asked).ok(), Some(0));
    }
}

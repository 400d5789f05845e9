"""Every kind of fault that is tried."""

from tests.faults.damage import DAMAGE
from tests.faults.data_files import DATA_FILES
from tests.faults.disks import DISKS
from tests.faults.fault import Fault
from tests.faults.groups import GROUPS
from tests.faults.hostile_archives import ARCHIVES
from tests.faults.hostile_pickles import PICKLES
from tests.faults.kills import KILLS
from tests.faults.not_finite import NOT_FINITE
from tests.faults.resumes import CHAIN, RESUMES
from tests.faults.settings import ASSIGNMENTS, FILES, TREES
from tests.faults.stops import STOPS

FAULTS: tuple[Fault, ...] = (
    *(RESUMES, CHAIN, KILLS, STOPS, GROUPS, DISKS, DAMAGE, NOT_FINITE),
    *(TREES, FILES, ASSIGNMENTS, DATA_FILES, PICKLES, ARCHIVES),
)

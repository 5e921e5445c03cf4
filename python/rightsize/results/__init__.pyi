# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from ..result import Result as Result
from .batch import Batch as Batch, BatchBeside as BatchBeside, BatchLoadCurve as BatchLoadCurve, BatchPercentiles as BatchPercentiles, BatchRelaxation as BatchRelaxation, BatchSetting as BatchSetting, BatchSlo as BatchSlo, BatchStepFit as BatchStepFit
from .calibrate import Calibrate as Calibrate, CalibrateFit as CalibrateFit, CalibratePoint as CalibratePoint
from .checklist import Checklist as Checklist, ChecklistStep as ChecklistStep
from .commit import Commit as Commit, CommitFuture as CommitFuture, CommitTerm as CommitTerm
from .estimate import Estimate as Estimate, EstimateImage as EstimateImage, EstimateInterval as EstimateInterval, EstimateOp as EstimateOp, EstimatePart as EstimatePart, EstimateRoofline as EstimateRoofline, EstimateSweep as EstimateSweep
from .fleet import Fleet as Fleet, FleetAccount as FleetAccount, FleetAction as FleetAction, FleetExample as FleetExample, FleetForecast as FleetForecast, FleetGpu as FleetGpu, FleetIssue as FleetIssue, FleetJobs as FleetJobs, FleetLabel as FleetLabel, FleetLedger as FleetLedger, FleetMean as FleetMean, FleetMetricsFound as FleetMetricsFound, FleetMove as FleetMove, FleetNamespace as FleetNamespace, FleetOwner as FleetOwner, FleetPartition as FleetPartition, FleetState as FleetState, FleetTimeline as FleetTimeline, FleetTooSmallShare as FleetTooSmallShare, FleetTotals as FleetTotals, FleetUser as FleetUser, FleetWorkload as FleetWorkload, FleetWorst as FleetWorst
from .gpus import Gpus as Gpus, GpusGpu as GpusGpu, GpusMig as GpusMig, GpusProfile as GpusProfile, GpusSparseFlops as GpusSparseFlops
from .init import Init as Init
from .memory import Memory as Memory, MemoryCombination as MemoryCombination, MemoryEach as MemoryEach, MemoryFit as MemoryFit, MemoryNote as MemoryNote, MemoryOptions as MemoryOptions, MemoryPart as MemoryPart, MemoryPerGpu as MemoryPerGpu
from .mig import MigPlan as MigPlan, MigPlanAlternative as MigPlanAlternative, MigPlanCreate as MigPlanCreate, MigPlanGpu as MigPlanGpu, MigPlanInstance as MigPlanInstance, MigPlanLayout as MigPlanLayout, MigPlanPrice as MigPlanPrice, MigPlanProfile as MigPlanProfile, MigPlanRoom as MigPlanRoom, MigPlanStep as MigPlanStep, MigPlanUnplaceable as MigPlanUnplaceable, MigPlanWorkload as MigPlanWorkload
from .models import Models as Models, ModelsExperts as ModelsExperts, ModelsFamily as ModelsFamily, ModelsLatentAttention as ModelsLatentAttention, ModelsModel as ModelsModel
from .prices import Prices as Prices, PricesExpectedUsdPerHour as PricesExpectedUsdPerHour, PricesPrice as PricesPrice, PricesProvider as PricesProvider
from .prices-compare import PricesCompare as PricesCompare, PricesCompareOnDemand as PricesCompareOnDemand, PricesCompareOneYear as PricesCompareOneYear, PricesCompareSpot as PricesCompareSpot, PricesCompareThreeYears as PricesCompareThreeYears, PricesCompareWay as PricesCompareWay
from .prices-history import PricesHistory as PricesHistory
from .prices-import import PricesImport as PricesImport, PricesImportCorrected as PricesImportCorrected, PricesImportImport as PricesImportImport, PricesImportRefused as PricesImportRefused, PricesImportSuspicious as PricesImportSuspicious
from .prices-spot import PricesSpot as PricesSpot, PricesSpotOffer as PricesSpotOffer, PricesSpotUsd as PricesSpotUsd, PricesSpotUsdPerHour as PricesSpotUsdPerHour
from .profile import Profile as Profile, ProfileAction as ProfileAction, ProfileArticle as ProfileArticle, ProfileGpu as ProfileGpu, ProfilePhase as ProfilePhase, ProfileProjection as ProfileProjection, ProfileRoofline as ProfileRoofline, ProfileSource as ProfileSource, ProfileSpread as ProfileSpread
from .recommend import Assumptions as Assumptions, Change as Change, Plan as Plan, Recommendation as Recommendation, RecommendationBreakpoint as RecommendationBreakpoint, RecommendationCommitment as RecommendationCommitment, RecommendationMachinesByHour as RecommendationMachinesByHour, RecommendationQuota as RecommendationQuota, RecommendationSpot as RecommendationSpot, Rejection as Rejection
from .service import Service as Service, ServiceCalibration as ServiceCalibration, ServiceCorrected as ServiceCorrected, ServiceInterval as ServiceInterval, ServiceIsl as ServiceIsl, ServiceKvUse as ServiceKvUse, ServiceLatencySeconds as ServiceLatencySeconds, ServiceOsl as ServiceOsl, ServicePlan as ServicePlan, ServicePrior as ServicePrior, ServiceRequestsPerSecond as ServiceRequestsPerSecond, ServiceRunning as ServiceRunning, ServiceSavingUsdPerMonth as ServiceSavingUsdPerMonth, ServiceService as ServiceService, ServiceSlo as ServiceSlo, ServiceTpotSeconds as ServiceTpotSeconds, ServiceTtftSeconds as ServiceTtftSeconds, ServiceWaiting as ServiceWaiting, ServiceWhatIf as ServiceWhatIf
from .window import Window as Window, WindowOption as WindowOption, WindowSchedule as WindowSchedule

class Other(Result): ...

BY_SCHEMA: dict[str, str]

def class_of(schema: str) -> type[Result]: ...

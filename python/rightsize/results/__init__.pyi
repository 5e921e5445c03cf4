# Made by tools/python_types. Do not edit: change the schemas or the flags, and run it again.
from ..result import Result as Result
from .batch import Batch as Batch, BatchBeside as BatchBeside, BatchLengths as BatchLengths, BatchLoadCurve as BatchLoadCurve, BatchPercentiles as BatchPercentiles, BatchRelaxation as BatchRelaxation, BatchSetting as BatchSetting, BatchSlo as BatchSlo, BatchStepFit as BatchStepFit
from .calibrate import Calibrate as Calibrate, CalibrateFit as CalibrateFit, CalibratePoint as CalibratePoint
from .checklist import Checklist as Checklist, ChecklistStep as ChecklistStep
from .commit import Commit as Commit, CommitCommittedSpend as CommitCommittedSpend, CommitFuture as CommitFuture, CommitPayment as CommitPayment, CommitProvider as CommitProvider, CommitTerm as CommitTerm
from .decide import Decide as Decide, DecideAssumptions as DecideAssumptions, DecideCostIntervalUsd as DecideCostIntervalUsd, DecideDecision as DecideDecision, DecideInterval as DecideInterval, DecideMove as DecideMove, DecidePercentiles as DecidePercentiles, DecidePlan as DecidePlan, DecidePrediction as DecidePrediction, DecideQuota as DecideQuota, DecideSavingIntervalUsd as DecideSavingIntervalUsd, DecideSlo as DecideSlo, DecideSpot as DecideSpot
from .decisions import Decisions as Decisions, DecisionsAssumptions as DecisionsAssumptions, DecisionsCostIntervalUsd as DecisionsCostIntervalUsd, DecisionsDecision as DecisionsDecision, DecisionsInterval as DecisionsInterval, DecisionsPlan as DecisionsPlan, DecisionsPrediction as DecisionsPrediction, DecisionsQuota as DecisionsQuota, DecisionsSavingIntervalUsd as DecisionsSavingIntervalUsd, DecisionsSpot as DecisionsSpot, DecisionsStage as DecisionsStage
from .diff import Diff as Diff, DiffAfter as DiffAfter, DiffBefore as DiffBefore, DiffChange as DiffChange, DiffFit as DiffFit, DiffUsdPerMonth as DiffUsdPerMonth
from .estimate import Estimate as Estimate, EstimateImage as EstimateImage, EstimateInterval as EstimateInterval, EstimateMeasured as EstimateMeasured, EstimateOp as EstimateOp, EstimatePart as EstimatePart, EstimateRoofline as EstimateRoofline, EstimateSweep as EstimateSweep
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
from .recommend import Assumptions as Assumptions, Change as Change, Plan as Plan, Recommendation as Recommendation, RecommendationBreakpoint as RecommendationBreakpoint, RecommendationCommitment as RecommendationCommitment, RecommendationCommittedSpend as RecommendationCommittedSpend, RecommendationInterval as RecommendationInterval, RecommendationMachinesByHour as RecommendationMachinesByHour, RecommendationMix as RecommendationMix, RecommendationQuota as RecommendationQuota, RecommendationSpot as RecommendationSpot, Rejection as Rejection
from .review import Review as Review, ReviewAlert as ReviewAlert
from .rollout import Rollout as Rollout, RolloutCheck as RolloutCheck, RolloutStage as RolloutStage
from .savings import Savings as Savings, SavingsDecision as SavingsDecision, SavingsTeam as SavingsTeam
from .service import Service as Service, ServiceCalibration as ServiceCalibration, ServiceCorrected as ServiceCorrected, ServiceInterval as ServiceInterval, ServiceIsl as ServiceIsl, ServiceKvUse as ServiceKvUse, ServiceLatencySeconds as ServiceLatencySeconds, ServiceOsl as ServiceOsl, ServicePlan as ServicePlan, ServicePrior as ServicePrior, ServiceRequestsPerSecond as ServiceRequestsPerSecond, ServiceRunning as ServiceRunning, ServiceSavingUsdPerMonth as ServiceSavingUsdPerMonth, ServiceService as ServiceService, ServiceSlo as ServiceSlo, ServiceSurer as ServiceSurer, ServiceTpotSeconds as ServiceTpotSeconds, ServiceTtftSeconds as ServiceTtftSeconds, ServiceWaiting as ServiceWaiting, ServiceWhatIf as ServiceWhatIf
from .verify import Verify as Verify, VerifyCalibration as VerifyCalibration, VerifyFit as VerifyFit, VerifyMetric as VerifyMetric, VerifyPoint as VerifyPoint, VerifyVerification as VerifyVerification
from .window import Window as Window, WindowOption as WindowOption, WindowSchedule as WindowSchedule

class Other(Result): ...

BY_SCHEMA: dict[str, str]

def class_of(schema: str) -> type[Result]: ...

// Kubernetes objects: every pod template in them, whatever the kind, and pools of nodes.
#pragma once

#include "manifests/yaml_text.h"

namespace rightsize::manifests {

bool is_kubernetes(const YamlValue& root);

// Any object with pods somewhere inside (Deployment, StatefulSet, Job, CronJob, RayJob, RayCluster, LeaderWorkerSet,
// JobSet, PyTorchJob, InferenceService ...), times the replicas, parallelism and group sizes on the way to them;
// Karpenter's NodePools with the limits and requirements they have; machine types named in cluster configurations;
// device claims.
Found read_kubernetes(const YamlText& document);

}  // namespace rightsize::manifests

{{>terraform/head}}
provider "google" {
  project = var.project
  region  = {{"region"}}
}

{{>terraform/variables}}
{{#placed}}
resource "google_compute_resource_policy" "work" {
  name = {{"name"}}

  group_placement_policy {
    collocation = "COLLOCATED"
    vm_count    = {{machines}}
  }
}

{{/placed}}
resource "google_compute_instance" "work" {
  count        = {{machines}}
  name         = "{{name}}-${count.index}"
  machine_type = {{"machine_type"}}
  zone         = var.zone
{{#placed}}

  resource_policies = [google_compute_resource_policy.work.id]
{{/placed}}
{{#guest_accelerator}}

  guest_accelerator {
    type  = "nvidia-tesla-{{guest_accelerator}}"
    count = {{machine_gpus}}
  }
{{/guest_accelerator}}

  scheduling {
    on_host_maintenance = "TERMINATE"
{{#spot}}
    provisioning_model          = "SPOT"
    preemptible                 = true
    automatic_restart           = false
    instance_termination_action = "STOP"
{{/spot}}
  }

  boot_disk {
    initialize_params {
      image = var.image
      size  = {{disk_gb}}
      type  = "{{boot_disk}}"
    }
  }

  network_interface {
    subnetwork = var.subnet
    nic_type   = "GVNIC"
  }

{{#gpu_nics}}
  dynamic "network_interface" {
    for_each = var.gpu_subnets
    content {
      subnetwork = network_interface.value
      nic_type   = "{{nic_type}}"
    }
  }

{{/gpu_nics}}
  metadata = {
    ssh-keys = var.ssh_key
  }
}

output "addresses" {
  value = google_compute_instance.work[*].network_interface[0].network_ip
}

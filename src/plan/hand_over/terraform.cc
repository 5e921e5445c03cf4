// Terraform: the machines of a plan, with what only the user knows as variables.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "plan/hand_over/parts.h"

namespace rightsize::plan {
namespace {

std::string variable(const char* name, const char* meaning) {
  return fmt::format("variable \"{}\" {{\n  type        = string\n  description = {}\n}}\n\n", name, quoted(meaning));
}

std::string provider(const char* name, const char* source, const std::string& settings) {
  return fmt::format(
      "terraform {{\n  required_providers {{\n    {0} = {{\n      source = \"{1}\"\n    }}\n  }}\n}}\n\n"
      "provider \"{0}\" {{\n{2}}}\n\n",
      name, source, settings);
}

// What spot machines may cost an hour: a fifth above the plan's price.
double highest_bid(const Plan& plan) {
  return std::ceil(in_usd_per_machine_hour(std::max(plan.price.listed, plan.price.likely)) * 1.2 * 100) / 100;
}

std::string list_variable(const char* name, const std::string& meaning) {
  return fmt::format("variable \"{}\" {{\n  type        = list(string)\n  description = {}\n}}\n\n", name,
                     quoted(meaning));
}

std::string aws_spot(const Plan& plan, bool in_template) {
  if (!is_spot(plan)) return {};
  // A launch template stops at the market's type and price; the rest is the default.
  const std::string rest = in_template ? ""
                                       : "      spot_instance_type             = \"one-time\"\n      "
                                         "instance_interruption_behavior = \"terminate\"\n";
  return fmt::format(
      "\n  instance_market_options {{\n    market_type = \"spot\"\n    spot_options {{\n"
      "      max_price{}= \"{:.2f}\"\n{}    }}\n  }}\n",
      std::string(in_template ? 1 : 22, ' '), highest_bid(plan), rest);
}

// Machines that talk over EFA: the adapters are declared in a launch template, the host's interface first, then on
// every network card one that carries EFA alone. The first card of a P6-B300 carries the host only.
std::string aws_efa(const Request& request, const Plan& plan, int adapters) {
  const std::string& instance = plan.offer.machine->instance;
  const int first = instance.starts_with("p6-b300") ? 1 : 0;
  std::string out = variable("security_group_id", "security group that lets all traffic within itself, and SSH, in");
  out += fmt::format(
      "resource \"aws_launch_template\" \"work\" {{\n  name_prefix   = {}\n  image_id      = var.image\n"
      "  instance_type = {}\n  key_name      = var.key_name\n\n"
      "  placement {{\n    group_name = aws_placement_group.work.name\n  }}\n",
      quoted(object_name(request) + "-"), quoted(instance));
  out += aws_spot(plan, true);
  out +=
      "\n  network_interfaces {\n    network_card_index = 0\n    device_index       = 0\n"
      "    subnet_id          = var.subnet_id\n    security_groups    = [var.security_group_id]\n  }\n";
  out += fmt::format(
      "\n  dynamic \"network_interfaces\" {{\n    for_each = range({}, {})\n    content {{\n"
      "      network_card_index = network_interfaces.value\n"
      "      device_index       = network_interfaces.value == 0 ? 1 : 0\n      interface_type     = \"efa-only\"\n"
      "      subnet_id          = var.subnet_id\n      security_groups    = [var.security_group_id]\n    }}\n  }}\n",
      first, first + adapters);
  return out + fmt::format(
                   "\n  block_device_mappings {{\n    device_name = \"/dev/sda1\"\n    ebs {{\n"
                   "      volume_size = {}\n      volume_type = \"gp3\"\n    }}\n  }}\n}}\n\n"
                   "resource \"aws_instance\" \"work\" {{\n  count = {}\n\n"
                   "  launch_template {{\n    id = aws_launch_template.work.id\n  }}\n\n"
                   "  tags = {{\n    Name = {}\n  }}\n}}\n\n",
                   disk_gb(request, plan), plan.machines, quoted(object_name(request)));
}

std::string aws_plain(const Request& request, const Plan& plan) {
  std::string out = fmt::format(
      "resource \"aws_instance\" \"work\" {{\n  count         = {}\n  ami           = var.image\n"
      "  instance_type = {}\n  key_name      = var.key_name\n  subnet_id     = var.subnet_id\n",
      plan.machines, quoted(plan.offer.machine->instance));
  if (work_together(request, plan)) out += "\n  placement_group = aws_placement_group.work.id\n";
  out += aws_spot(plan, false);
  return out + fmt::format(
                   "\n  root_block_device {{\n    volume_size = {}\n    volume_type = \"gp3\"\n  }}\n\n"
                   "  tags = {{\n    Name = {}\n  }}\n}}\n\n",
                   disk_gb(request, plan), quoted(object_name(request)));
}

std::string aws(const Request& request, const Plan& plan) {
  std::string out = provider("aws", "hashicorp/aws", fmt::format("  region = {}\n", quoted(plan.offer.price->region)));
  out +=
      variable("image", "AMI with the GPU driver (and EFA, for several machines): a Deep Learning AMI of the region");
  out += variable("key_name", "EC2 key pair to log in with");
  out += variable("subnet_id", "subnet in a zone that has the instance type");
  if (work_together(request, plan))
    out +=
        fmt::format("resource \"aws_placement_group\" \"work\" {{\n  name     = {}\n  strategy = \"cluster\"\n}}\n\n",
                    quoted(object_name(request)));
  const int adapters = fabric_of(request, plan).efa;
  out += adapters > 0 ? aws_efa(request, plan, adapters) : aws_plain(request, plan);
  return out + "output \"addresses\" {\n  value = aws_instance.work[*].private_ip\n}\n";
}

// N1 machines get their GPUs by name; the others' are part of the machine type.
std::string guest_accelerator(const catalog::Machine& machine) {
  if (machine.instance.find('+') == std::string::npos) return {};
  const std::string family = machine.gpu.substr(0, machine.gpu.find('-'));
  return fmt::format("\n  guest_accelerator {{\n    type  = \"nvidia-tesla-{}\"\n    count = {}\n  }}\n", family,
                     machine.gpus);
}

// Compute Engine, "Disk types by machine series" 2026: A4, A3 Ultra and G4 boot from Hyperdisk alone, A3 and G2 from no
// standard disk.
std::string_view gcp_disk(const std::string& instance) {
  for (std::string_view series : {"a4", "a3-ultra", "g4"}) {
    if (instance.starts_with(series)) return "hyperdisk-balanced";
  }
  return "pd-balanced";
}

// The host's interface, and for GPUs that talk to other machines their own.
std::string gcp_interfaces(const Fabric& fabric) {
  std::string out = "  network_interface {\n    subnetwork = var.subnet\n    nic_type   = \"GVNIC\"\n  }\n\n";
  if (fabric.gpu_nics == 0) return out;
  return out + fmt::format(
                   "  dynamic \"network_interface\" {{\n    for_each = var.gpu_subnets\n    content {{\n"
                   "      subnetwork = network_interface.value\n      nic_type   = \"{}\"\n    }}\n  }}\n\n",
                   fabric.rdma ? "MRDMA" : "GVNIC");
}

std::string gcp_variables(const Fabric& fabric) {
  std::string out = variable("project", "Google Cloud project");
  out += variable("zone", "zone of the region that has the machine type");
  out += variable("image", "image with the GPU driver, for example of the family common-cu128-ubuntu-2204");
  out += variable("subnet", "subnetwork of the region");
  out += variable("ssh_key", "USER:PUBLIC_KEY to log in with");
  if (fabric.gpu_nics > 0)
    out += list_variable("gpu_subnets",
                         fmt::format("{} subnetworks, one for each {} of the GPUs", fabric.gpu_nics,
                                     fabric.rdma ? "RDMA card (of a network with the RoCE profile)" : "network card"));
  return out;
}

std::string gcp_scheduling(const Plan& plan) {
  std::string out = "\n  scheduling {\n    on_host_maintenance = \"TERMINATE\"\n";
  if (is_spot(plan))
    out +=
        "    provisioning_model          = \"SPOT\"\n    preemptible                 = true\n"
        "    automatic_restart           = false\n    instance_termination_action = \"STOP\"\n";
  return out + "  }\n\n";
}

std::string gcp(const Request& request, const Plan& plan) {
  const catalog::Machine& machine = *plan.offer.machine;
  const bool together = work_together(request, plan);
  const Fabric fabric = fabric_of(request, plan);
  const std::string name = object_name(request);
  std::string out =
      provider("google", "hashicorp/google",
               fmt::format("  project = var.project\n  region  = {}\n", quoted(plan.offer.price->region)));
  out += gcp_variables(fabric);
  // Machines with RDMA are placed by their reservation.
  const bool placed = together && !fabric.rdma;
  if (placed)
    out += fmt::format(
        "resource \"google_compute_resource_policy\" \"work\" {{\n  name = {}\n\n  group_placement_policy {{\n"
        "    collocation = \"COLLOCATED\"\n    vm_count    = {}\n  }}\n}}\n\n",
        quoted(name), plan.machines);
  out += fmt::format(
      "resource \"google_compute_instance\" \"work\" {{\n  count        = {}\n  name         = "
      "\"{}-${{count.index}}\"\n"
      "  machine_type = {}\n  zone         = var.zone\n",
      plan.machines, name, quoted(machine.instance.substr(0, machine.instance.find('+'))));
  if (placed) out += "\n  resource_policies = [google_compute_resource_policy.work.id]\n";
  out += guest_accelerator(machine);
  out += gcp_scheduling(plan);
  out += fmt::format(
      "  boot_disk {{\n    initialize_params {{\n      image = var.image\n      size  = {}\n      type  = \"{}\"\n"
      "    }}\n  }}\n\n",
      disk_gb(request, plan), gcp_disk(machine.instance));
  out += gcp_interfaces(fabric) + "  metadata = {\n    ssh-keys = var.ssh_key\n  }\n}\n\n";
  return out + "output \"addresses\" {\n  value = google_compute_instance.work[*].network_interface[0].network_ip\n}\n";
}

// What single machines and scale sets say alike.
std::string azure_machine(const Request& request, const Plan& plan) {
  std::string out;
  if (is_spot(plan))
    out += fmt::format("  priority        = \"Spot\"\n  eviction_policy = \"Deallocate\"\n  max_bid_price   = {:.2f}\n",
                       highest_bid(plan));
  return out + fmt::format(
                   "\n  admin_ssh_key {{\n    username   = \"azureuser\"\n    public_key = var.public_key\n  }}\n\n"
                   "  os_disk {{\n    caching              = \"ReadWrite\"\n"
                   "    storage_account_type = \"Premium_LRS\"\n    disk_size_gb         = {}\n  }}\n",
                   disk_gb(request, plan));
}

// InfiniBand joins machines of one scale set in a single placement group.
std::string azure_scale_set(const Request& request, const Plan& plan) {
  const std::string name = object_name(request);
  return fmt::format(
             "resource \"azurerm_linux_virtual_machine_scale_set\" \"work\" {{\n  name                   = {0}\n"
             "  location               = {1}\n  resource_group_name    = var.resource_group\n"
             "  sku                    = {2}\n  instances              = {3}\n"
             "  single_placement_group = true\n  overprovision          = false\n"
             "  admin_username         = \"azureuser\"\n  source_image_id        = var.image\n",
             quoted(name), quoted(plan.offer.price->region), quoted(plan.offer.machine->instance), plan.machines) +
         azure_machine(request, plan) +
         fmt::format(
             "\n  network_interface {{\n    name                          = \"internal\"\n"
             "    primary                       = true\n    enable_accelerated_networking = true\n\n"
             "    ip_configuration {{\n      name      = \"internal\"\n      primary   = true\n"
             "      subnet_id = var.subnet_id\n    }}\n  }}\n}}\n\n"
             "output \"scale_set\" {{\n  value = azurerm_linux_virtual_machine_scale_set.work.id\n}}\n");
}

std::string azure_machines(const Request& request, const Plan& plan) {
  const std::string name = object_name(request), region = plan.offer.price->region;
  std::string out = fmt::format(
      "resource \"azurerm_network_interface\" \"work\" {{\n  count               = {0}\n"
      "  name                = \"{1}-${{count.index}}\"\n  location            = {2}\n"
      "  resource_group_name = var.resource_group\n\n  ip_configuration {{\n"
      "    name                          = \"internal\"\n    subnet_id                     = var.subnet_id\n"
      "    private_ip_address_allocation = \"Dynamic\"\n  }}\n}}\n\n",
      plan.machines, name, quoted(region));
  out += fmt::format(
      "resource \"azurerm_linux_virtual_machine\" \"work\" {{\n  count                 = {0}\n"
      "  name                  = \"{1}-${{count.index}}\"\n  location              = {2}\n"
      "  resource_group_name   = var.resource_group\n  size                  = {3}\n"
      "  admin_username        = \"azureuser\"\n  source_image_id       = var.image\n"
      "  network_interface_ids = [azurerm_network_interface.work[count.index].id]\n",
      plan.machines, name, quoted(region), quoted(plan.offer.machine->instance));
  out += azure_machine(request, plan) + "}\n\n";
  return out + "output \"addresses\" {\n  value = azurerm_linux_virtual_machine.work[*].private_ip_address\n}\n";
}

std::string azure(const Request& request, const Plan& plan) {
  std::string out = provider("azurerm", "hashicorp/azurerm", "  features {}\n");
  out += variable("resource_group", "resource group the machines go into");
  out += variable("image", "id of an image with the GPU driver (and InfiniBand's, for several machines)");
  out += variable("subnet_id", "subnet the machines are in");
  out += variable("public_key", "SSH public key to log in with");
  return out + (work_together(request, plan) ? azure_scale_set(request, plan) : azure_machines(request, plan));
}

// How a bucket is mounted where the work keeps its results.
std::string mount_command(std::string_view provider) {
  if (provider == "aws") return fmt::format("mount-s3 YOUR-BUCKET {} --allow-overwrite --allow-delete", kStorage);
  if (provider == "gcp") return fmt::format("gcsfuse YOUR-BUCKET {}", kStorage);
  return fmt::format("blobfuse2 mount {} --container-name=YOUR-CONTAINER", kStorage);
}

// What is to be done on each machine, as comments.
std::string instructions(const Request& request, const Plan& plan) {
  std::string steps;
  for (const Input& input : inputs_of(request, plan))
    steps += fmt::format("export {}={}\n", input.name, quoted(input.value));
  if (needs_code(request, plan)) steps += "git clone https://YOUR-REPOSITORY code && cd code\n";
  if (keeps_results(request))
    steps += fmt::format("mkdir -p {} && {}\n", kStorage, mount_command(plan.offer.machine->provider));
  return "# On every machine, where RANK is its number and HEAD the first address:\n" +
         indented(steps + work_command(request, plan, {"$RANK", "$HEAD", machine_replicas(plan)}), "#   ") + "\n";
}

}  // namespace

Result<std::string> to_terraform(const Request& request, const Plan& plan) {
  const std::string& provider = plan.offer.machine->provider;
  const std::string head =
      header(request, plan, "Terraform: the machines of a plan. Start: terraform init, then terraform apply",
             inputs_and(request, plan, {"the variables below: terraform asks for them"})) +
      instructions(request, plan);
  if (provider == "aws") return head + aws(request, plan);
  if (provider == "gcp") return head + gcp(request, plan);
  if (provider == "azure") return head + azure(request, plan);
  return fail(bad_input(fmt::format("no Terraform for machines of {}", provider))
                  .with_hint("'--providers aws,gcp,azure' plans on those it is written for")
                  .with_hint("kubernetes and slurm take machines of any provider"));
}

}  // namespace rightsize::plan

// Terraform: the machines of a plan, with what only the user knows as variables.
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
double highest_bid(const Plan& plan) { return std::ceil(in_usd_per_machine_hour(plan.offer.rate()) * 1.2 * 100) / 100; }

constexpr const char* kDiskGb = "500";

std::string aws(const Request& request, const Plan& plan) {
  const std::string name = object_name(request);
  std::string out = provider("aws", "hashicorp/aws", fmt::format("  region = {}\n", quoted(plan.offer.price->region)));
  out += variable("image", "AMI with the GPU driver, for example a Deep Learning AMI of the region");
  out += variable("key_name", "EC2 key pair to log in with");
  out += variable("subnet_id", "subnet in a zone that has the instance type");
  const bool together = plan.machines > 1;
  if (together)
    out +=
        fmt::format("resource \"aws_placement_group\" \"work\" {{\n  name     = {}\n  strategy = \"cluster\"\n}}\n\n",
                    quoted(name));
  out += fmt::format(
      "resource \"aws_instance\" \"work\" {{\n  count         = {}\n  ami           = var.image\n"
      "  instance_type = {}\n  key_name      = var.key_name\n  subnet_id     = var.subnet_id\n",
      plan.machines, quoted(plan.offer.machine->instance));
  if (together) out += "\n  placement_group = aws_placement_group.work.id\n";
  if (is_spot(plan))
    out += fmt::format(
        "\n  instance_market_options {{\n    market_type = \"spot\"\n    spot_options {{\n"
        "      max_price                      = \"{:.2f}\"\n      spot_instance_type             = \"one-time\"\n"
        "      instance_interruption_behavior = \"terminate\"\n    }}\n  }}\n",
        highest_bid(plan));
  out += fmt::format("\n  root_block_device {{\n    volume_size = {}\n  }}\n\n  tags = {{\n    Name = {}\n  }}\n}}\n\n",
                     kDiskGb, quoted(name));
  return out + "output \"addresses\" {\n  value = aws_instance.work[*].private_ip\n}\n";
}

// N1 machines get their GPUs by name; the others' are part of the machine type.
std::string guest_accelerator(const catalog::Machine& machine) {
  if (machine.instance.find('+') == std::string::npos) return {};
  const std::string family = machine.gpu.substr(0, machine.gpu.find('-'));
  return fmt::format("\n  guest_accelerator {{\n    type  = \"nvidia-tesla-{}\"\n    count = {}\n  }}\n", family,
                     machine.gpus);
}

std::string gcp(const Request& request, const Plan& plan) {
  const catalog::Machine& machine = *plan.offer.machine;
  std::string out =
      provider("google", "hashicorp/google",
               fmt::format("  project = var.project\n  region  = {}\n", quoted(plan.offer.price->region)));
  out += variable("project", "Google Cloud project");
  out += variable("zone", "zone of the region that has the machine type");
  out += variable("image", "image with the GPU driver, for example of the family common-cu128-ubuntu-2204");
  out += variable("subnet", "subnetwork of the region");
  out += variable("ssh_key", "USER:PUBLIC_KEY to log in with");
  out += fmt::format(
      "resource \"google_compute_instance\" \"work\" {{\n  count        = {}\n  name         = "
      "\"{}-${{count.index}}\"\n"
      "  machine_type = {}\n  zone         = var.zone\n",
      plan.machines, object_name(request), quoted(machine.instance.substr(0, machine.instance.find('+'))));
  out += guest_accelerator(machine);
  out += "\n  scheduling {\n    on_host_maintenance = \"TERMINATE\"\n";
  if (is_spot(plan))
    out +=
        "    provisioning_model          = \"SPOT\"\n    preemptible                 = true\n"
        "    automatic_restart           = false\n    instance_termination_action = \"STOP\"\n";
  out += fmt::format(
      "  }}\n\n  boot_disk {{\n    initialize_params {{\n      image = var.image\n      size  = {}\n    }}\n  }}\n\n"
      "  network_interface {{\n    subnetwork = var.subnet\n  }}\n\n  metadata = {{\n    ssh-keys = var.ssh_key\n  }}\n"
      "}}\n\n",
      kDiskGb);
  return out + "output \"addresses\" {\n  value = google_compute_instance.work[*].network_interface[0].network_ip\n}\n";
}

std::string azure(const Request& request, const Plan& plan) {
  const std::string name = object_name(request), region = plan.offer.price->region;
  std::string out = provider("azurerm", "hashicorp/azurerm", "  features {}\n");
  out += variable("resource_group", "resource group the machines go into");
  out += variable("image", "id of an image with the GPU driver");
  out += variable("subnet_id", "subnet the machines are in");
  out += variable("public_key", "SSH public key to log in with");
  out += fmt::format(
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
  if (is_spot(plan))
    out += fmt::format(
        "  priority              = \"Spot\"\n  eviction_policy       = \"Deallocate\"\n"
        "  max_bid_price         = {:.2f}\n",
        highest_bid(plan));
  out += fmt::format(
      "\n  admin_ssh_key {{\n    username   = \"azureuser\"\n    public_key = var.public_key\n  }}\n\n  os_disk {{\n"
      "    caching              = \"ReadWrite\"\n    storage_account_type = \"Premium_LRS\"\n"
      "    disk_size_gb         = {}\n  }}\n}}\n\n",
      kDiskGb);
  return out + "output \"addresses\" {\n  value = azurerm_linux_virtual_machine.work[*].private_ip_address\n}\n";
}

}  // namespace

Result<std::string> to_terraform(const Request& request, const Plan& plan) {
  const std::string& provider = plan.offer.machine->provider;
  const std::string head =
      header(request, plan, "Terraform: the machines of a plan. Start: terraform init, then terraform apply",
             inputs_and(request, plan, {"the variables below: terraform asks for them"})) +
      "# On every machine, with the inputs above in the environment, RANK its number and HEAD the first address:\n" +
      indented(work_command(request, plan, {"$RANK", "$HEAD", machine_replicas(plan)}), "#   ") + "\n";
  if (provider == "aws") return head + aws(request, plan);
  if (provider == "gcp") return head + gcp(request, plan);
  if (provider == "azure") return head + azure(request, plan);
  return fail(bad_input(fmt::format("no Terraform for machines of {}", provider))
                  .with_hint("'--providers aws,gcp,azure' plans on those it is written for")
                  .with_hint("kubernetes and slurm take machines of any provider"));
}

}  // namespace rightsize::plan

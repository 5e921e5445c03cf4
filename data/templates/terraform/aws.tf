{{>terraform/head}}
provider "aws" {
  region = {{"region"}}
}

{{>terraform/variables}}
{{#together}}
resource "aws_placement_group" "work" {
  name     = {{"name"}}
  strategy = "cluster"
}

{{/together}}
{{#efa}}
# The adapters are declared in a launch template: the host's interface first, then one that carries EFA alone on every
# network card. The first card of a P6-B300 carries the host only.
resource "aws_launch_template" "work" {
  name_prefix   = "{{name}}-"
  image_id      = var.image
  instance_type = {{"instance"}}
  key_name      = var.key_name

  placement {
    group_name = aws_placement_group.work.name
  }
{{#spot}}

  instance_market_options {
    market_type = "spot"
    spot_options {
      max_price = "{{max_price}}"
    }
  }
{{/spot}}

  network_interfaces {
    network_card_index = 0
    device_index       = 0
    subnet_id          = var.subnet_id
    security_groups    = [var.security_group_id]
  }

  dynamic "network_interfaces" {
    for_each = range({{first_card}}, {{last_card}})
    content {
      network_card_index = network_interfaces.value
      device_index       = network_interfaces.value == 0 ? 1 : 0
      interface_type     = "efa-only"
      subnet_id          = var.subnet_id
      security_groups    = [var.security_group_id]
    }
  }

  block_device_mappings {
    device_name = "/dev/sda1"
    ebs {
      volume_size = {{disk_gb}}
      volume_type = "gp3"
    }
  }
}

resource "aws_instance" "work" {
  count = {{machines}}

  launch_template {
    id = aws_launch_template.work.id
  }
{{/efa}}
{{^efa}}
resource "aws_instance" "work" {
  count         = {{machines}}
  ami           = var.image
  instance_type = {{"instance"}}
  key_name      = var.key_name
  subnet_id     = var.subnet_id
{{#together}}

  placement_group = aws_placement_group.work.id
{{/together}}
{{#spot}}

  instance_market_options {
    market_type = "spot"
    spot_options {
      max_price                      = "{{max_price}}"
      spot_instance_type             = "one-time"
      instance_interruption_behavior = "terminate"
    }
  }
{{/spot}}

  root_block_device {
    volume_size = {{disk_gb}}
    volume_type = "gp3"
  }
{{/efa}}

  tags = {
    Name = {{"name"}}
  }
}

output "addresses" {
  value = aws_instance.work[*].private_ip
}

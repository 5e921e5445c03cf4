{{>terraform/head}}
provider "azurerm" {
  features {}
}

{{>terraform/variables}}
{{#together}}
# InfiniBand connects the machines of one scale set in a single placement group.
resource "azurerm_linux_virtual_machine_scale_set" "work" {
  name                   = {{"name"}}
  location               = {{"region"}}
  resource_group_name    = var.resource_group
  sku                    = {{"instance"}}
  instances              = {{machines}}
  single_placement_group = true
  overprovision          = false
  admin_username         = "azureuser"
  source_image_id        = var.image
  {{>terraform/azure_machine}}

  network_interface {
    name                          = "internal"
    primary                       = true
    enable_accelerated_networking = true

    ip_configuration {
      name      = "internal"
      primary   = true
      subnet_id = var.subnet_id
    }
  }
}

output "scale_set" {
  value = azurerm_linux_virtual_machine_scale_set.work.id
}
{{/together}}
{{^together}}
resource "azurerm_network_interface" "work" {
  count               = {{machines}}
  name                = "{{name}}-${count.index}"
  location            = {{"region"}}
  resource_group_name = var.resource_group

  ip_configuration {
    name                          = "internal"
    subnet_id                     = var.subnet_id
    private_ip_address_allocation = "Dynamic"
  }
}

resource "azurerm_linux_virtual_machine" "work" {
  count                 = {{machines}}
  name                  = "{{name}}-${count.index}"
  location              = {{"region"}}
  resource_group_name   = var.resource_group
  size                  = {{"instance"}}
  admin_username        = "azureuser"
  source_image_id       = var.image
  network_interface_ids = [azurerm_network_interface.work[count.index].id]
  {{>terraform/azure_machine}}
}

output "addresses" {
  value = azurerm_linux_virtual_machine.work[*].private_ip_address
}
{{/together}}

a = <<EOT
 x
EOT
b {
 c = "${d["e"]}"
 f = [for x in y : z]
}
module "m" { g = { h = { instance_types = ["p5.48xlarge"], desired_size = var.n } } }

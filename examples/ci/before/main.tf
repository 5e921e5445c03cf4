# A notebook server for the team.
variable "notebooks" {
  default = 2
}

resource "aws_instance" "notebook" {
  count         = var.notebooks
  ami           = data.aws_ami.deep_learning.id
  instance_type = "g5.2xlarge"
}

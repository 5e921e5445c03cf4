job "a" {
  group "g" {
    count = 2
    task "t" {
      resources {
        device "nvidia/gpu/Tesla T4" {
          count = -1
          constraint {
            attribute = "${device.model}"
            value     = "NVIDIA A100"
          }
        }
        device "gpu" {
          count = "${var.n}"
        }
      }
    }
  }
}

resource "" "x" {
  guest_accelerator {
    type = ""
  }
}

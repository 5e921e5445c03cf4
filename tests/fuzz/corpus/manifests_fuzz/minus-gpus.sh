#!/bin/bash
#SBATCH --job-name=finetune
#SBATCH --nodes=4
#SBATCH --gres=gpu:a100:-8
#SBATCH --time=2-00:00:00
srrain.py

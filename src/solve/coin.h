// COIN-OR's solvers, loaded when the first program is to be solved.
#pragma once

#include <Cbc_C_Interface.h>
#include <Clp_C_Interface.h>

namespace rightsize::solve {

struct Coin {
  decltype(::Cbc_bestSolution)* Cbc_bestSolution = nullptr;
  decltype(::Cbc_deleteModel)* Cbc_deleteModel = nullptr;
  decltype(::Cbc_getBestPossibleObjValue)* Cbc_getBestPossibleObjValue = nullptr;
  decltype(::Cbc_isProvenInfeasible)* Cbc_isProvenInfeasible = nullptr;
  decltype(::Cbc_isProvenOptimal)* Cbc_isProvenOptimal = nullptr;
  decltype(::Cbc_loadProblem)* Cbc_loadProblem = nullptr;
  decltype(::Cbc_newModel)* Cbc_newModel = nullptr;
  decltype(::Cbc_setAllowableFractionGap)* Cbc_setAllowableFractionGap = nullptr;
  decltype(::Cbc_setInteger)* Cbc_setInteger = nullptr;
  decltype(::Cbc_setLogLevel)* Cbc_setLogLevel = nullptr;
  decltype(::Cbc_setMIPStartI)* Cbc_setMIPStartI = nullptr;
  decltype(::Cbc_setMaximumNodes)* Cbc_setMaximumNodes = nullptr;
  decltype(::Cbc_setMaximumSeconds)* Cbc_setMaximumSeconds = nullptr;
  decltype(::Cbc_setParameter)* Cbc_setParameter = nullptr;
  decltype(::Cbc_solve)* Cbc_solve = nullptr;
  decltype(::Clp_deleteModel)* Clp_deleteModel = nullptr;
  decltype(::Clp_dualRowSolution)* Clp_dualRowSolution = nullptr;
  decltype(::Clp_loadProblem)* Clp_loadProblem = nullptr;
  decltype(::Clp_newModel)* Clp_newModel = nullptr;
  decltype(::Clp_objectiveValue)* Clp_objectiveValue = nullptr;
  decltype(::Clp_primal)* Clp_primal = nullptr;
  decltype(::Clp_primalColumnSolution)* Clp_primalColumnSolution = nullptr;
  decltype(::Clp_setLogLevel)* Clp_setLogLevel = nullptr;
  decltype(::Clp_status)* Clp_status = nullptr;
};

// Throws where the libraries cannot be loaded, as the system would not start a program that is linked to them.
const Coin& coin();

}  // namespace rightsize::solve

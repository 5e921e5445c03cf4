#include "solve/coin.h"

#include <new>
#include <stdexcept>
#include <string>

#include "base/lazy_library.h"

namespace rightsize::solve {

const Coin& coin() {
  static const Coin kLibraries = [] {
    static LazyLibrary cbc("libCbcSolver.so.3"), clp("libClp.so.1");
    Coin coin;
    cbc.find(coin.Cbc_bestSolution, "Cbc_bestSolution");
    cbc.find(coin.Cbc_deleteModel, "Cbc_deleteModel");
    cbc.find(coin.Cbc_getBestPossibleObjValue, "Cbc_getBestPossibleObjValue");
    cbc.find(coin.Cbc_isProvenInfeasible, "Cbc_isProvenInfeasible");
    cbc.find(coin.Cbc_isProvenOptimal, "Cbc_isProvenOptimal");
    cbc.find(coin.Cbc_loadProblem, "Cbc_loadProblem");
    cbc.find(coin.Cbc_newModel, "Cbc_newModel");
    cbc.find(coin.Cbc_setAllowableFractionGap, "Cbc_setAllowableFractionGap");
    cbc.find(coin.Cbc_setInteger, "Cbc_setInteger");
    cbc.find(coin.Cbc_setLogLevel, "Cbc_setLogLevel");
    cbc.find(coin.Cbc_setMIPStartI, "Cbc_setMIPStartI");
    cbc.find(coin.Cbc_setMaximumNodes, "Cbc_setMaximumNodes");
    cbc.find(coin.Cbc_setMaximumSeconds, "Cbc_setMaximumSeconds");
    cbc.find(coin.Cbc_setParameter, "Cbc_setParameter");
    cbc.find(coin.Cbc_solve, "Cbc_solve");
    clp.find(coin.Clp_deleteModel, "Clp_deleteModel");
    clp.find(coin.Clp_dualRowSolution, "Clp_dualRowSolution");
    clp.find(coin.Clp_loadProblem, "Clp_loadProblem");
    clp.find(coin.Clp_newModel, "Clp_newModel");
    clp.find(coin.Clp_objectiveValue, "Clp_objectiveValue");
    clp.find(coin.Clp_primal, "Clp_primal");
    clp.find(coin.Clp_primalColumnSolution, "Clp_primalColumnSolution");
    clp.find(coin.Clp_setLogLevel, "Clp_setLogLevel");
    clp.find(coin.Clp_status, "Clp_status");
    for (const LazyLibrary* library : {&cbc, &clp}) {
      if (library->loaded()) continue;
      const std::string& why = library->loaded().error().message;
      if (why.find("failed to map segment") != std::string::npos)
        throw std::bad_alloc();  // it is there: no memory for it
      throw std::runtime_error(why);
    }
    return coin;
  }();
  return kLibraries;
}

}  // namespace rightsize::solve

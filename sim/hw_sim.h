/* A stand-in for hardware: the engine runs the program with a model of its own, whose values the caller may not know. */
#ifndef WPSIM_HW_SIM_H
#define WPSIM_HW_SIM_H

#include "hw.h"
#include "program.h"

extern const struct hw_backend hw_sim;

/*
 * The program that functions loaded from now on stand for, lowered for the hidden model; it must live until
 * they ran. noise: relative spread of what is measured, 0 none; the sequence is the same in every process.
 */
void hw_sim_program(const struct program *p, double noise);

#endif

# Opens results of Societies in R: data frames and arrays, with units and meanings.
#
#     source("societies.R")
#     run <- societies_read("quickstart.nc")     # of: societies export quickstart.h5 --to netcdf
#     gini <- run$arrays$gini                    # day x society
#     table <- societies_table(run, c("gini", "utility"))
#     societies_meaning(run)
#
# A study that was exported in the same way is opened alike; its runs are the rows. Needs the package
# ncdf4. R has the dimensions of an array in the opposite order, the last one first.

societies_read <- function(file, variables = NULL) {
  if (!file.exists(file)) stop(file, ": no such file in ", getwd(), call. = FALSE)
  connection <- tryCatch(ncdf4::nc_open(file), error = function(error) {
    stop(file, ": is not netCDF; societies export RESULT.h5 --to netcdf makes it of a result",
         call. = FALSE)
  })
  on.exit(ncdf4::nc_close(connection))
  attribute <- function(variable, name) {
    found <- ncdf4::ncatt_get(connection, variable, name)
    if (found$hasatt) found$value else ""
  }
  names_in_root <- grep("/", names(connection$var), value = TRUE, invert = TRUE)
  missing <- setdiff(variables, names_in_root)
  if (length(missing) > 0) {
    stop(file, " has no variable ", paste(missing, collapse = ", "), "; it has ",
         paste(names_in_root, collapse = ", "))
  }
  wanted <- if (is.null(variables)) names_in_root else variables
  arrays <- list()
  dimensions <- list()
  for (name in wanted) {
    arrays[[name]] <- ncdf4::ncvar_get(connection, name, collapse_degen = FALSE)
    dimensions[[name]] <- vapply(connection$var[[name]]$dim, function(one) one$name, "")
  }
  coordinates <- list()
  for (one in connection$dim) coordinates[[one$name]] <- as.vector(one$vals)
  list(
    arrays = arrays,
    dimensions = dimensions,
    coordinates = coordinates,
    units = vapply(wanted, attribute, "", "units"),
    meaning = vapply(wanted, attribute, "", "long_name"),
    configuration = attribute(0, "configuration")
  )
}

# One row for each combination of coordinates, one column for each coordinate and variable; the
# variables must have the same dimensions.
societies_table <- function(run, variables = names(run$arrays)) {
  along <- run$dimensions[[variables[1]]]
  for (name in variables) {
    if (!identical(run$dimensions[[name]], along)) {
      stop(name, " has other dimensions than ", variables[1], ": ",
           paste(run$dimensions[[name]], collapse = ", "))
    }
  }
  table <- expand.grid(run$coordinates[along], KEEP.OUT.ATTRS = FALSE, stringsAsFactors = FALSE)
  for (name in variables) table[[name]] <- as.vector(run$arrays[[name]])
  table
}

# What each variable means, with its unit and dimensions.
societies_meaning <- function(run) {
  data.frame(
    variable = names(run$arrays),
    unit = unname(run$units),
    meaning = unname(run$meaning),
    dimensions = vapply(run$dimensions, paste, "", collapse = " x "),
    row.names = NULL
  )
}

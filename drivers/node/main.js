'use strict';
// Runs every check of the Node.js driver; the order of these lines is the order of the checks.

require('./check_schema');
require('./check_types');
require('./check_statements');
require('./check_buckets');
require('./check_session');
require('./check_mapper');
require('./scenario').run();

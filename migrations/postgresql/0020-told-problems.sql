-- Problems that the operator was told of by e-mail. ../0020-told-problems.sql says more.
CREATE TABLE told_problem (
  topic text COLLATE "C" PRIMARY KEY,
  told_to text COLLATE "C" NOT NULL,
  finding text COLLATE "C" NOT NULL
);
